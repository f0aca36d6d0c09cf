// Lets the parts of pages render in the browser: the only function of Bun that they call.

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#x27;' }

globalThis.Bun ??= { escapeHTML: (text) => text.replace(/[&<>"']/g, (sign) => ENTITIES[sign]) }
