// Bodies, answers and form fields in the documents match the reference.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import * as formats from 'ajv-formats'
import { type Api, startApi } from '../support/api.ts'

type Schema = { properties?: Record<string, object> }

let api: Api
let schemas: Record<string, Schema>
beforeAll(async () => {
  api = await startApi()
  type Reference = { components: { schemas: Record<string, Schema> } }
  schemas = (await api.call<Reference>('/api/v2/openapi.json')).body.components.schemas
})
afterAll(() => api.close())

const read = (name: string) => Bun.file(join(import.meta.dir, '../../docs', name)).text()

function problemsOf(name: string, value: unknown) {
  const ajv = new Ajv({ allErrors: true }).addVocabulary(['example'])
  formats.default.default(ajv)
  const validate = ajv.compile(schemas[name] ?? { not: {} })
  return validate(value) ? null : validate.errors
}

test.each([
  // The second body has no schema: a page's link answers with it, which the reference of the API omits.
  ['requests.md', ['Request', null]],
  ['notices.md', ['EventPage', 'CreatedWebhook']],
])('the answers in %s match the schema %j', async (file, names) => {
  const shown = [...(await read(file)).matchAll(/```json\n(.*?)```/gs)].map(([, text = '']) =>
    JSON.parse(text),
  )
  expect(shown).toHaveLength(names.length)
  const found = names.map((name, at) => (name === null ? null : problemsOf(name, shown[at])))
  expect(found).toEqual(names.map(() => null))
})

test.each([
  ['requests.md', 'request', 'RequestFields'],
  ['requests.md', 'push', 'AnswerFields'],
  ['notices.md', 'webhook', 'WebhookFields'],
])('the bodies in %s of a %s match the schema %s', async (file, wrapper, name) => {
  const bodies = [...(await read(file)).matchAll(/'(\{.*?\})'$/gm)].map(([, text = '']) => JSON.parse(text))
  const shown = bodies.map((body) => body[wrapper]).filter((body) => body !== undefined)
  expect(shown.length).toBeGreaterThan(0)
  expect(shown.map((body) => problemsOf(name, body))).toEqual(shown.map(() => null))
})

test.each([
  ['requests.md', 'request', 'Request'],
  ['requests.md', 'push', 'Answer'],
  ['notices.md', 'webhook', 'Webhook'],
])('the table in %s of the members of a %s has the members of %s', async (file, wrapper, name) => {
  const [, table = ''] = (await read(file)).split(`| member of \`${wrapper}\` |`)
  const rows = table.split('\n\n', 1)[0]?.split('\n').slice(2) ?? []
  const cells = rows.map((row) => row.split('|').map((cell) => cell.trim()))
  const members = cells.map(([, member = '']) => member.replaceAll('`', ''))
  expect(members.toSorted()).toEqual(Object.keys(schemas[`${name}Fields`]?.properties ?? {}).toSorted())
  const fields = cells.flatMap(([, , field = '']) => [...field.matchAll(/`([^`]+)`/g)].map(([, one]) => one))
  const known = Object.keys(schemas[`${name}Form`]?.properties ?? {})
  expect(fields.filter((field) => field !== 'X-Push-Passphrase').toSorted()).toEqual(known.toSorted())
})
