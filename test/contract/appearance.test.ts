// The name, contact and notice that administrators set on the page, unless a flag or variable fixes them.

import { afterEach, expect, test } from 'bun:test'
import { type Api, startApi } from '../support/api.ts'
import { elementsIn, factsOf, textsIn, valueIn } from '../support/page-facts.ts'
import { createPeople, type Person } from '../support/people.ts'

let api: Api
let ann: Person
afterEach(() => api.close())

const FORM = '/admin/appearance'

async function start(options: { flags?: Record<string, string>; env?: Record<string, string> } = {}) {
  api = await startApi(options)
  await api.addAccount('ann@example.org', { isAdmin: true })
  ann = await createPeople(api).signIn('ann@example.org')
}

const read = async (path: string) => (await api.fetch(path)).text()
const titleOf = (page: string) => factsOf(page).title?.split(' · ')[1]

test('a change is on every page and in the manifest at once, and survives a restart', async () => {
  await start()
  const set = { name: 'Ärzte & Co', contact: 'the desk, help@once.example', notice: 'Closed on Saturday' }
  const { status, headers } = await ann.post(FORM, set)
  expect([status, headers.get('location')]).toEqual([303, '/admin#appearance'])
  for (const isRestarted of [false, true]) {
    if (isRestarted) await api.restart()
    const page = await read('/sign-in')
    expect(titleOf(page)).toBe('Ärzte & Co')
    expect(textsIn(page, 'p')).toContain('Closed on Saturday')
    expect(await read('/nowhere')).toContain('the desk, <a href="mailto:help@once.example"')
    const manifest = JSON.parse(await read('/manifest.webmanifest'))
    expect([manifest.name, manifest.short_name]).toEqual(['Ärzte & Co', 'Ärzte & Co'])
  }
})

test('the page shows the change, and the settings show where it comes from', async () => {
  await start()
  await ann.post(FORM, { name: 'Larkspur', contact: '', notice: '' })
  const { text } = await ann.get('/admin')
  expect(valueIn(text, 'name')).toBe('Larkspur')
  expect(textsIn(text, '#settings tr')).toContainEqual(expect.stringMatching(/--brand-nameLarkspur\/admin$/))
})

test('an empty text restores the default; a missing field changes nothing', async () => {
  await start()
  await ann.post(FORM, { name: 'Larkspur', notice: 'Closed' })
  await ann.post(FORM, { name: ' ' })
  const page = await read('/')
  expect(titleOf(page)).toBe('Oncebox')
  expect(textsIn(page, 'p')).toContain('Closed')
})

test('a text fixed by a flag or variable is shown with its name, and the server refuses to change it', async () => {
  await start({ flags: { 'brand-name': 'Fixed' }, env: { ONCEBOX_NOTICE: 'From the environment' } })
  const shown = (await ann.get('/admin')).text
  expect(elementsIn(shown, '#appearance [disabled]').map(({ attributes }) => attributes.value)).toEqual([
    ...['Fixed', 'From the environment'],
  ])
  expect(textsIn(shown, '#appearance .hint code')).toEqual(['--brand-name', 'ONCEBOX_NOTICE'])
  const forced = await ann.post(FORM, { name: 'Forced', contact: 'the desk' })
  expect(forced.status).toBe(422)
  expect(factsOf(forced.text).problems.name).toContain('can’t be changed')
  // A refused form changes nothing.
  expect(await read('/nowhere')).not.toContain('the desk')
  expect((await ann.post(FORM, { contact: 'the desk' })).status).toBe(303)
  const page = await read('/nowhere')
  expect(page).toContain('the desk')
  expect(titleOf(page)).toBe('Fixed')
  expect(page).toContain('From the environment')
})

test.each([
  ['more characters than the flag takes', { name: 'x'.repeat(41) }, 'at most 40 characters'],
  ['a contact that is too long', { contact: 'x'.repeat(201) }, 'at most 200 characters'],
  ['a notice that is too long', { notice: 'x'.repeat(301) }, 'at most 300 characters'],
  ['HTML', { notice: '<b>now</b>' }, 'without HTML'],
  ['a line break', { notice: 'one\ntwo' }, 'invisible characters'],
  ['a direction override character', { name: 'Once\u202ebox' }, 'invisible characters'],
])(
  '%s is refused beside its field, and the typed text stays',
  async (_, fields: Record<string, string>, why) => {
    await start()
    const { status, text } = await ann.post(FORM, { contact: 'the desk', ...fields })
    expect(status).toBe(422)
    const [[field = '', typed = ''] = []] = Object.entries(fields)
    expect(factsOf(text).problems[field]).toContain(why)
    expect(elementsIn(text, `#${field}[aria-invalid="true"]`)).toHaveLength(1)
    if (!typed.includes('\n')) expect(valueIn(text, field)).toBe(typed)
    expect(await read('/nowhere')).not.toContain('the desk')
  },
)

test('HTML characters in a text are escaped', async () => {
  await start()
  await ann.post(FORM, { name: 'A&B "x" > y', notice: '1 < 2 & "3"' })
  const page = await read('/')
  expect(titleOf(page)).toBe('A&B "x" > y')
  expect(page).toContain('<p>1 &lt; 2 &amp; &quot;3&quot;</p>')
  expect(valueIn((await ann.get('/admin')).text, 'name')).toBe('A&B "x" > y')
})

test('only administrators change them, after confirming their password', async () => {
  await start()
  await api.addAccount('bob@example.org')
  const people = createPeople(api)
  const bob = await people.signIn('bob@example.org')
  expect((await bob.post(FORM, { name: 'Bob' })).status).toBe(403)
  expect((await people.post(FORM, { name: 'Nobody' })).headers.get('location')).toStartWith('/sign-in')
  expect((await ann.post(FORM, { form: 'forged', name: 'Forged' })).status).toBe(403)
  api.clock.advance(11 * 60_000)
  const asked = await ann.post(FORM, { name: 'Larkspur' })
  expect(asked.status).toBe(403)
  expect(valueIn(asked.text, 'name')).toBe('Larkspur')
  expect(titleOf(await read('/'))).toBe('Oncebox')
  expect((await ann.post(FORM, { name: 'Larkspur', password: 'correct horse battery' })).status).toBe(303)
  expect(titleOf(await read('/'))).toBe('Larkspur')
})
