// Runs in the inner frame before the page: reports the page's height, its first error and that its policy has blocked
// the network, and loads no library from a CDN.
(() => {
  let reported = -1;
  const send = (message) => parent.postMessage(message, "*");
  const fail = (error) => send({ error: String(error) });
  // Without an `error`, the browser warns of a ResizeObserver's loop, which does no harm.
  addEventListener("error", ({ error }) => error && fail(error));
  addEventListener("unhandledrejection", ({ reason }) => fail(reason));
  addEventListener("securitypolicyviolation", ({ effectiveDirective }) => {
    if (["img-src", "connect-src"].includes(effectiveDirective)) send({ blocked: "L" in window ? "tiles" : "data" });
  });
  const report = () => {
    const { body, documentElement } = document;
    const height = Math.max(documentElement.offsetHeight, body.scrollHeight + 2 * body.offsetTop);
    // A hidden frame has no height, and a page that fills its frame has no height of its own.
    if (!innerHeight || height === innerHeight) return;
    // A map has no height of its own either, so a page collapses only if it shows nothing.
    const shows = [...body.querySelectorAll(":not(script, style, link)")].some(
      (element) => element.childElementCount || element.textContent.trim() || element.matches("canvas, img, svg"));
    if (height < 20 && shows) return;
    // Most charts are drawn some time after the page is loaded.
    if (height < 20 && performance.now() < 2000) setTimeout(report, 500);
    else if (height !== reported) send({ height: (reported = height) });
  };
  addEventListener("load", () => {
    report();
    new ResizeObserver(report).observe(document.body);
    new MutationObserver(() => requestAnimationFrame(report)).observe(document.body, {
      subtree: true, childList: true, attributes: true,
    });
  });
  // Scripts that load a library at run time (Altair, Bokeh) only get the load event: the page has the library already.
  Object.defineProperty(HTMLScriptElement.prototype, "src", {
    set() { setTimeout(() => this.dispatchEvent(new Event("load"))); },
  });
  // pyecharts requests its library from RequireJS.
  window.require = (names, use) => use(...names.map((name) => window[name]));
  window.require.config = window.requirejs = Object.assign(() => {}, { config() {} });
})();
