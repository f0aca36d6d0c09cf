// Runs in the browser: draws the reference from the document beside this page.

const dark = window.matchMedia('(prefers-color-scheme: dark)')
const followColours = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', followColours)
followColours()

window.SwaggerUIBundle({
  url: document.documentElement.dataset.reference,
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
})
