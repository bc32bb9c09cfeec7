// A prebuilt extension of JupyterLab and Notebook 7: if a `set_next_input` payload has metadata, the new cell gets them.
// The applications load a container of webpack's module federation; this one shares no modules.
(() => {
  const keepMetadata = (panel, context) => {
    let payload = null;
    const onMessage = (kernel, { msg, direction }) => {
      if (direction !== "recv" || msg.header.msg_type !== "execute_reply") return;
      const found = (msg.content.payload ?? []).find(({ source, metadata }) => source === "set_next_input" && metadata);
      payload = found ?? payload;
    };
    const onCells = (cells, change) => {
      if (change.type !== "add" || !payload) return;
      const { text, metadata } = payload;
      const cell = change.newValues.find(({ sharedModel }) => sharedModel.getSource() === text);
      if (!cell) return;
      payload = null;
      Object.entries(metadata).forEach(([key, value]) => cell.setMetadata(key, value));
    };
    const onKernel = (session, { oldValue, newValue }) => {
      oldValue?.anyMessage.disconnect(onMessage);
      newValue?.anyMessage.connect(onMessage);
    };
    const { sessionContext, model } = context;
    onKernel(sessionContext, { newValue: sessionContext.session?.kernel });
    sessionContext.kernelChanged.connect(onKernel);
    model.cells.changed.connect(onCells);
    panel.disposed.connect(() => {
      onKernel(sessionContext, { oldValue: sessionContext.session?.kernel });
      sessionContext.kernelChanged.disconnect(onKernel);
      model.cells?.changed.disconnect(onCells);
    });
  };
  const plugin = {
    id: "autogen-nb:plugin",
    description: "Keeps the metadata that autogen_nb gives a new cell.",
    autoStart: true,
    activate: ({ docRegistry }) => docRegistry.addWidgetExtension("Notebook", { createNew: keepMetadata }),
  };
  const modules = { "./extension": () => ({ __esModule: true, default: plugin }) };
  (window._JUPYTERLAB ??= {})["autogen-nb"] = { init: () => {}, get: async (name) => modules[name] };
})();
