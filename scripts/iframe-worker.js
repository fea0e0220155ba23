// SPDX-License-Identifier: MIT
// Browsers do not start workers for pages loaded from disk, but the site's search is a worker. This script runs it in a
// hidden frame instead. The file's name keeps mkdocs-material from requesting a similar script from a server.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    #waiting = [];
    #window = null;

    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      const inside = frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = async (...urls) => {
        for (const each of urls) await this.#load(inside, each);
      };
      this.#load(inside, url).then(() => {
        this.#window = inside;
        for (const data of this.#waiting.splice(0)) this.postMessage(data);
      });
    }

    #load(inside, url) {
      return new Promise((resolve, reject) => {
        const script = inside.document.createElement("script");
        script.src = url;
        script.onload = resolve;
        script.onerror = () => reject(new Error(`${url} cannot be loaded`));
        inside.document.head.appendChild(script);
      });
    }

    postMessage(data) {
      if (this.#window) this.#window.dispatchEvent(new this.#window.MessageEvent("message", { data }));
      else this.#waiting.push(data);
    }
  };
  window.Worker = window.IFrameWorker;
}
