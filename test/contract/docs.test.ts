// The page of the reference: every operation with its parameters and answers, without a script.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Api, startApi } from '../support/api.ts'

type Document = {
  paths: Record<string, Record<string, { operationId: string; parameters?: { name: string }[] }>>
  components: { schemas: Record<string, { properties?: object }> }
}

let api: Api
let page: string
let reference: Document
beforeAll(async () => {
  api = await startApi({ flags: { 'base-url': 'https://once.example/box', 'expire-after-views-max': '17' } })
  const headers = { host: 'once.example' }
  const response = await api.fetch('/box/api/v2/docs', { headers })
  expect(response.status).toBe(200)
  page = (await response.text()).replaceAll('&#x27;', "'").replaceAll('&quot;', '"')
  reference = await (await api.fetch('/box/api/v2/openapi.json', { headers })).json()
})
afterAll(() => api.close())

test('every operation shows its parameters and a curl line with the address of this server', () => {
  for (const [path, methods] of Object.entries(reference.paths))
    for (const [method, { operationId, parameters = [] }] of Object.entries(methods)) {
      const article = page.split(`id="${operationId}"`)[1]?.split('</article>')[0] ?? ''
      expect(article).toContain(`</b> ${path}</code>`)
      expect(article).toContain(method.toUpperCase())
      for (const { name } of parameters) expect(article).toContain(`<code>${name}</code>`)
      const example = path.replace(/\{(\w+)\}/g, (_, name: string) => name.toUpperCase())
      expect(article).toMatch(/<pre><code>curl /)
      expect(article).toContain(`'https://once.example/box${example}'`)
    }
})

test('every schema shows its fields, with the limits of this server', () => {
  for (const [name, { properties = {} }] of Object.entries(reference.components.schemas)) {
    const shown = page.split(`id="schema-${name}"`)[1]?.split('</details>')[0] ?? ''
    for (const field of Object.keys(properties)) expect(shown).toContain(`<code>${field}</code>`)
  }
  expect(page).toContain('from 1 to 17')
})

test('every link within the page has a target, and no two targets have the same name', () => {
  const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
  expect(new Set(ids).size).toBe(ids.length)
  for (const [, target] of page.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(target)
})

test('the examples create and retrieve a push', async () => {
  const example = /-d '(\{"push".*?\})'<\/code>/.exec(page)?.[1] ?? ''
  const headers = { host: 'once.example', 'content-type': 'application/json' }
  const created = await api.fetch('/box/api/v2/pushes', { method: 'POST', body: example, headers })
  expect(created.status).toBe(201)
})

test('the page begins with a curl line, and its rules come last', () => {
  const main = page.slice(page.indexOf('<h1'))
  expect(main.indexOf('<pre><code>curl')).toBeLessThan(main.indexOf('<h2'))
  expect([...main.matchAll(/<h2 id="([^"]+)"/g)].at(-1)?.[1]).toBe('rules')
  expect(main.slice(0, main.indexOf('id="rules"'))).not.toContain('X-User-Token')
})
