/* Sends a file piece by piece, and goes on after a break from the offset that the server names. */
(() => {
  "use strict";
  const pause = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));
  const refusal = (message) => Object.assign(new Error(message), { refused: true });

  const ask = async (url, options) => {
    const answer = await fetch(url, { credentials: "same-origin", ...options });
    const isOurs = answer.headers.get("content-type") === "application/json";
    // A proxy may have answered. Its 4xx answers are final; others may pass.
    if (!isOurs && answer.status >= 400 && answer.status < 500) {
      throw refusal(`A proxy in front of the server answered ${answer.status}.`);
    }
    const found = await answer.json();
    if (!answer.ok && found.offset === undefined) throw refusal(found.message);
    return found;
  };

  const send = async (form, file, say) => {
    const fields = new FormData(form);
    fields.delete("file");
    fields.set("file_name", file.name);
    fields.set("size", file.size);
    fields.set("modified", file.lastModified);
    const headers = { "x-form-key": fields.get("csrf") };
    let waits_s = 1;
    for (;;) {
      try {
        const begun = await ask(form.dataset.uploads, { method: "POST", body: fields });
        let at = begun.offset;
        while (at < file.size) {
          say(`${Math.floor((100 * at) / file.size)} % of ${file.name} is on the server.`);
          const body = file.slice(at, at + begun.chunk_bytes);
          at = (await ask(`${begun.path}?offset=${at}`, { method: "PUT", body, headers })).offset;
          waits_s = 1;
        }
        return begun.path;
      } catch (error) {
        if (error.refused) throw error;
        say(`The connection broke. Nothing is lost; it goes on in ${waits_s} s.`);
        await pause(waits_s);
        waits_s = Math.min(30, 2 * waits_s);
      }
    }
  };

  document.addEventListener("submit", async (event) => {
    const form = event.target;
    const file = form.dataset.uploads && form.elements.file.files[0];
    if (!file) return;
    event.preventDefault();
    const line = form.querySelector("[data-said]");
    const button = form.querySelector("button.do");
    const say = (text) => { line.textContent = text; };
    button.disabled = true;
    try {
      location.href = await send(form, file, say);
    } catch (error) {
      line.setAttribute("role", "alert");
      say(`The file was refused. ${error.message}`);
      button.disabled = false;
    }
  });
})();
