// Browsers start no workers on pages from the disk. The search is one: there it runs in a hidden frame instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inner = frame.contentWindow;
      const base = new URL(url, document.baseURI);
      const load = (source) =>
        new Promise((done, failed) => {
          const script = inner.document.createElement("script");
          script.src = new URL(source, base).href;
          script.onload = done;
          script.onerror = failed;
          inner.document.head.append(script);
        });
      inner.postMessage = (data) => {
        const message = new MessageEvent("message", { data });
        this.dispatchEvent(message);
        this.onmessage?.(message);
      };
      inner.importScripts = (...sources) => sources.reduce((before, next) => before.then(() => load(next)), Promise.resolve());
      this.frame = frame;
      this.started = load(base).then(() => inner);
    }

    postMessage(data) {
      this.started.then((inner) => inner.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
