// Runs in the browser: draws the reference from the document beside this page.

window.SwaggerUIBundle({
  url: document.documentElement.dataset.reference,
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
})
