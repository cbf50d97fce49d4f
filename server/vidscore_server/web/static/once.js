/* A form is sent once: a double click would do twice what its button does. */
(() => {
  "use strict";
  const PAUSE_MS = 10000;
  const sent = new WeakMap();

  window.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post" || event.defaultPrevented) return;
    if (event.timeStamp - (sent.get(form) ?? -PAUSE_MS) < PAUSE_MS) event.preventDefault();
    else sent.set(form, event.timeStamp);
  });
})();
