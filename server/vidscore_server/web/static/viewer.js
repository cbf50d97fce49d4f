/* Sliders, strips and curves of the viewer; its keys are in keys.js. */
(() => {
  "use strict";
  document.addEventListener("input", (event) => {
    const output = document.querySelector(`output[for="${CSS.escape(event.target.id || "-")}"] b`);
    if (output) output.textContent = Number(event.target.value).toFixed(2);
  });

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
    const base = holder.dataset.strip;
    const url = `${base}${base.includes("?") ? "&" : "?"}at=${share.toFixed(6)}`;
    const link = holder.closest("tr")?.querySelector("a[hx-get]") ?? document.querySelector("#frame-part a[hx-get]");
    if (!window.htmx || !link) { location.href = `${url}#frame`; return; }
    window.htmx.ajax("GET", url, { source: link, target: "#frame-part", swap: "outerHTML show:#frame-part:top" });
  });

  /* The text below a curve shows the point next to the pointer, or the one chosen by arrow keys. */
  const points = (reading) => [...reading.closest("figure").querySelectorAll(".hit")];
  const read = (reading, at) => {
    const all = points(reading);
    all.forEach((point, place) => point.classList.toggle("on", place === at));
    const shown = at ?? Number(reading.dataset.read);
    reading.textContent = all[shown].querySelector("title").textContent;
    reading.setAttribute("aria-valuenow", shown);
    reading.setAttribute("aria-valuetext", reading.textContent);
  };
  const prepare = () => document.querySelectorAll("[data-read]:not([role])").forEach((reading) => {
    reading.tabIndex = 0;
    const name = reading.closest("figure").querySelector("figcaption b").textContent;
    const given = { role: "slider", "aria-label": `Point of ${name}`, "aria-valuemin": 0, "aria-valuemax": points(reading).length - 1 };
    Object.entries(given).forEach(([attribute, value]) => reading.setAttribute(attribute, value));
    read(reading);
  });
  prepare();
  document.addEventListener("htmx:afterSettle", prepare);
  let pointed = null;
  document.addEventListener("pointermove", (event) => {
    const svg = event.target.closest?.(".plot svg");
    const reading = svg?.closest("figure").querySelector("[data-read]");
    if (pointed && pointed !== reading) read(pointed);
    pointed = reading ?? null;
    if (!reading) return;
    const [box, width] = [svg.getBoundingClientRect(), svg.viewBox.baseVal.width];
    const far = points(reading).map((point) => Math.hypot(
      point.cx.baseVal.value - (event.clientX - box.left) * width / box.width,
      point.cy.baseVal.value - (event.clientY - box.top) * width / box.width,
    ));
    const least = Math.min(...far);
    read(reading, least < 40 ? far.indexOf(least) : undefined);
  });
  document.addEventListener("keydown", (event) => {
    const reading = event.target.closest?.("[data-read]");
    if (!reading || event.ctrlKey || event.altKey || event.metaKey) return;
    const [now, last] = [Number(reading.getAttribute("aria-valuenow")), points(reading).length - 1];
    const to = { ArrowLeft: now - 1, ArrowDown: now - 1, ArrowRight: now + 1, ArrowUp: now + 1, Home: 0, End: last }[event.key];
    if (event.key === "Enter") choose(reading.closest("figure"));
    if (to === undefined) return;
    event.preventDefault();
    read(reading, Math.min(last, Math.max(0, to)));
  });

  /* A click on a curve counts at the confidence of the shown point. */
  const choose = (within) => {
    const url = within?.querySelector(".hit.on")?.dataset.href;
    if (url) location.href = url;
  };
  document.addEventListener("click", (event) => choose(event.target.closest?.(".plot svg")));

  /* A form that has changed since its request has sent another one: drop the first answer. */
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { elt, formData } = event.detail.requestConfig;
    if (elt.tagName !== "FORM") return;
    const asked = (data) => [...data].map((pair) => pair.join("=")).sort().join("&");
    if (asked(formData) !== asked(new FormData(elt))) event.detail.shouldSwap = false;
  });
})();
