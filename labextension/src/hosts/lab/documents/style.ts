/** How a document of a recording looks around its charts. */

export const DOCUMENT_CSS = `
.tsk-document { overflow: auto; background: var(--jp-layout-color0, #ffffff); color: var(--jp-ui-font-color1, #1f2328); }
.tsk-document-head { padding: 10px 12px 6px; font-family: var(--jp-ui-font-family, system-ui, sans-serif); }
.tsk-document-head h1 { margin: 0; font-size: 16px; font-weight: 600; overflow-wrap: anywhere; }
.tsk-document-head p { margin: 2px 0 0; font-size: 12px; color: var(--jp-ui-font-color2, #59636e); overflow-wrap: anywhere; }
.tsk-document-note {
  margin: 6px 12px;
  padding: 6px 10px;
  border-left: 3px solid var(--jp-warn-color1, #f57c00);
  background: var(--jp-layout-color1, #f6f8fa);
  font: 13px/1.45 var(--jp-ui-font-family, system-ui, sans-serif);
  overflow-wrap: anywhere;
}
.tsk-document-note[role='alert'] { border-color: var(--jp-error-color1, #c00000); }
.tsk-document > button { margin: 0 12px; }
`;
