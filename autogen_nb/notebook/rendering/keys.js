// Handles keys in the editor of a panel; otherwise, the front end would apply some of them to the cell.
window.autogenNbKeys ??= (() => {
  const indent = (editor, isBack) => {
    const { value, selectionStart: start, selectionEnd: end } = editor;
    const first = value.lastIndexOf("\n", start - 1) + 1;
    const isOneLine = !value.slice(start, end).includes("\n");
    const lines = value.slice(first, end);
    if (isOneLine && !isBack) {
      document.execCommand("insertText", false, " ".repeat(4 - ((start - first) % 4)));
      return;
    }
    const changed = isBack ? lines.replace(/^ {1,4}/gm, "") : lines.replace(/^(?=.)/gm, "    ");
    if (changed === lines) return;
    // The browser can undo this command.
    editor.setSelectionRange(first, end);
    document.execCommand(changed ? "insertText" : "delete", false, changed);
    editor.setSelectionRange(isOneLine ? Math.max(first, start - lines.length + changed.length) : first, first + changed.length);
  };
  const listen = (event) => {
    const editor = event.target;
    const panel = editor.matches?.(".autogen-nb-code textarea") && editor.closest(".autogen-nb-panel");
    const runs = event.key === "Enter" && (event.ctrlKey || event.metaKey || event.shiftKey);
    if (!panel || event.isComposing || !(runs || event.key === "Tab" || event.key === "Escape")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (event.key === "Tab") {
      indent(editor, event.shiftKey);
      return;
    }
    const button = panel.querySelector("button.mod-primary");
    // The kernel receives the text when the editor loses the focus.
    button.focus();
    if (runs) button.click();
  };
  window.addEventListener("keydown", listen, true);
  return listen;
})();
