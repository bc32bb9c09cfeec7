// Adds buttons to a line: they select what the cell shows, and put text such as a command into a new cell; and below it
// a field for the next question, which runs in a new cell.
// A page that runs no scripts has no buttons.
(() => {
  const script = document.currentScript, area = script.closest(".jp-OutputArea");
  const switcher = script.previousElementSibling;
  if (!area || switcher.childElementCount) return;
  const select = (mode) => {
    for (const fold of area.querySelectorAll("details")) {
      const kind = fold.dataset.autogenNb;
      fold.open = mode === "all" || (kind === "code" && mode === "code") || (kind === "work" && mode !== "answer");
    }
    const outputs = [...area.children], end = outputs.findIndex((output) => output.contains(script));
    const answer = outputs.slice(0, end).findLastIndex((output) => output.textContent.trim());
    outputs.slice(0, Math.max(answer, 0)).forEach((output) => {
      const hidden = mode === "answer" && !output.querySelector('details[data-autogen-nb="work"]');
      output.style.display = hidden ? "none" : "";
    });
    for (const button of modes) {
      const pressed = button.textContent === mode;
      button.setAttribute("aria-pressed", pressed);
      button.style.fontWeight = pressed ? "600" : "";
      button.style.textDecoration = pressed ? "none" : "underline";
    }
  };
  const add = (text, parent = switcher) => {
    const button = document.createElement("button");
    button.style.cssText = "font:inherit;color:inherit;background:none;border:0;padding:0 0 0 6px;cursor:pointer";
    button.style.whiteSpace = "nowrap";
    button.textContent = text;
    parent.append(button);
    return button;
  };
  // A single command would be lost on a line of its own.
  const commands = document.createElement("span");
  commands.style.whiteSpace = "nowrap";
  const setCommand = (button, text, ...more) => {
    // JupyterLab and Notebook 7 run the commands of these attributes.
    button.dataset.commandlinkerCommand = "apputils:run-all-enabled";
    button.dataset.commandlinkerArgs = JSON.stringify({
      commands: ["notebook:insert-cell-below", "notebook:replace-selection", ...more], args: { text },
    });
  };
  const addCommand = (label, text, ...more) => {
    if (switcher.previousSibling || commands.hasChildNodes()) commands.append(" \u00b7");
    const button = add(label, commands);
    button.style.textDecoration = "underline";
    setCommand(button, text, ...more);
  };
  const addField = (magic) => {
    const field = document.createElement("input");
    field.placeholder = field.ariaLabel = "Next question";
    field.style.cssText = "font:inherit;color:inherit;background:none;display:block;box-sizing:border-box;width:100%;"
      + "max-width:48em;margin:4px 0 0;padding:2px 0;border:0;border-bottom:1px solid rgba(128,128,128,.35)";
    const run = document.createElement("button");
    run.hidden = true;
    field.onkeydown = (event) => {
      event.stopPropagation();
      if (event.key !== "Enter" || event.isComposing || !field.value.trim()) return;
      setCommand(run, `${magic}\n${field.value.trim()}`, "notebook:run-cell");
      field.value = "";
      run.click();
    };
    switcher.parentElement.append(field, run);
  };
  const { show, buttons, next } = switcher.dataset;
  if (show) switcher.append(" \u00b7 show");
  const modes = show ? ["answer", "results", "code", "all"].map((text) => add(text)) : [];
  for (const button of modes) button.onclick = () => select(button.textContent);
  switcher.append(commands);
  for (const [label, text, runs] of JSON.parse(buttons)) addCommand(label, text, ...(runs ? ["notebook:run-cell"] : []));
  if (next) addField(next);
  if (show) select(show);
})();
