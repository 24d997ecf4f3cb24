// Search runs in a worker, which browsers do not start from a file: there a hidden frame takes its place. Its script
// posts to its parent, and what is posted to it comes as an event, as in a worker.
if (location.protocol === "file:") {
  class IFrameWorker extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inside = frame.contentWindow;
      this.ready = new Promise((resolve) => {
        this.inside.start = resolve;
        window.addEventListener("message", (event) => {
          if (event.source === this.inside) this.dispatchEvent(new MessageEvent("message", { data: event.data }));
        });
        const source = new URL(url, document.baseURI).href.replaceAll('"', "%22");
        this.inside.document.open();
        this.inside.document.write(
          '<!doctype html><script>postMessage = (data) => parent.postMessage(data, "*");</' + "script>" +
            `<script src="${source}"></` + "script><script>start();</" + "script>",
        );
        this.inside.document.close();
      });
    }
    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {}
  }
  window.IFrameWorker = window.Worker = IFrameWorker;
}
