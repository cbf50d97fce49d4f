/* Keys, taps and swipes on frames. Every key is also a link or a control in tab order. */
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

  document.addEventListener("change", (event) => {
    if (event.target.id !== "keys-off") return;
    try { localStorage.setItem(remembered, event.target.checked ? "1" : ""); } catch { /* a page from a file may have no storage */ }
  });
  const recall = () => {
    try { if (localStorage.getItem(remembered) && one("#keys-off")) one("#keys-off").checked = true; } catch { /* the same */ }
  };
  recall();
  document.addEventListener("htmx:afterSettle", recall);

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
