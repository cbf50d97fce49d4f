/* Keys, taps and the slider of the viewer. Every key is also a link or a control in tab order. */
(() => {
  "use strict";
  const one = (selector) => document.querySelector(selector);
  const off = () => one("#keys-off")?.checked;
  const remembered = "vidscore.keys-off";

  const follow = (element) => {
    if (!element) return;
    if (element.matches("[data-focus]")) {
      const target = one(element.dataset.focus);
      target?.scrollIntoView();
      target?.focus({ preventScroll: true });
    } else element.click();
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || off()) return;
    const at = event.target;
    if (at.closest?.("input:not([type=radio], [type=checkbox]), select, textarea, [contenteditable]")) return;
    const arrow = event.key.startsWith("Arrow");
    if (arrow && at.closest?.("input, [tabindex='0'], summary")) return;
    const element = one(`[data-key="${CSS.escape(event.key.length === 1 ? event.key.toLowerCase() : event.key)}"]`);
    if (!element) return;
    event.preventDefault();
    if (element.tagName === "SUMMARY") {
      element.parentElement.open = true;
      element.scrollIntoView();
      element.focus();
    } else follow(element);
  });

  document.addEventListener("input", (event) => {
    const output = one(`output[for="${CSS.escape(event.target.id || "-")}"] b`);
    if (output) output.textContent = Number(event.target.value).toFixed(2);
  });

  document.addEventListener("change", (event) => {
    if (event.target.id !== "keys-off") return;
    try { localStorage.setItem(remembered, event.target.checked ? "1" : ""); } catch { /* a file may keep nothing */ }
  });
  const recall = () => {
    try { if (localStorage.getItem(remembered) && one("#keys-off")) one("#keys-off").checked = true; } catch { /* the same */ }
  };
  recall();
  document.addEventListener("htmx:afterSettle", recall);

  /* A tap on a strip goes to the worst frame of the bin under the finger and its neighbours. */
  document.addEventListener("click", (event) => {
    const strip = event.target.closest?.("[data-strip] svg.strip");
    if (!strip) return;
    const box = strip.getBoundingClientRect();
    const share = Math.min(0.999999, Math.max(0, (event.clientX - box.left) / box.width));
    const holder = strip.closest("[data-strip]");
    const held = holder.dataset.held;
    if (held !== undefined) {
      const places = held.split(" ").filter(Boolean).map((entry) => entry.split(":"));
      places.sort((one, other) => Math.abs(one[0] - share) - Math.abs(other[0] - share));
      if (places.length) location.hash = places[0][1];
      return;
    }
    const url = `${holder.dataset.strip}&at=${share.toFixed(6)}`;
    const link = holder.closest("tr")?.querySelector("a[hx-get]") ?? one("#frame-part a[hx-get]");
    if (!window.htmx || !link) { location.href = `${url}#frame`; return; }
    window.htmx.ajax("GET", url, { source: link, target: "#frame-part", swap: "outerHTML show:#frame-part:top" });
  });

  /* A click on a curve counts at the confidence of the point there. */
  document.addEventListener("click", (event) => {
    const url = event.target.closest?.("[data-href]")?.dataset.href;
    if (url) location.href = url;
  });

  /* A tap on an object goes to its row. */
  document.addEventListener("click", (event) => {
    const row = document.getElementById(event.target.closest?.(".pic [data-row]")?.dataset.row ?? "");
    if (!row) return;
    row.tabIndex = -1;
    row.focus();
  });

  /* A swipe over the picture: to the left the next mistake, to the right the one before. */
  let start = null;
  document.addEventListener("touchstart", (event) => {
    start = event.target.closest?.(".pic") && event.touches.length === 1 ? event.touches[0] : null;
  }, { passive: true });
  document.addEventListener("touchend", (event) => {
    if (!start) return;
    const end = event.changedTouches[0];
    const [across, down] = [end.clientX - start.clientX, end.clientY - start.clientY];
    start = null;
    if (Math.abs(across) < 60 || Math.abs(across) < 2 * Math.abs(down)) return;
    follow(one(`[data-key="${across < 0 ? "n" : "p"}"]`));
  }, { passive: true });
})();
