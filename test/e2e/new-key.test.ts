// Two nodes of the compiled binary get a new instance key, and still open links of the former one.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newKeyFile } from '../../src/crypto/keyring.ts'
import { makeFolder, removeFolder } from '../support/binary.ts'
import { needs } from '../support/needs.ts'
import { type Office, openOffice } from '../support/nodes.ts'
import { untilTaken } from '../support/waiting.ts'

const START_MS = 300_000

needs('postgres').describe('a new instance key', () => {
  const folder = makeFolder()
  const files = [0, 1].map((node) => join(folder, `${node}.key`))
  const old = newKeyFile()
  let office: Office
  beforeAll(async () => {
    for (const file of files) writeFileSync(file, old, { mode: 0o600 })
    const environmentOf = (node: number) => ({ ONCEBOX_KEY_FILE: files[node] ?? '' })
    office = await openOffice({ nodes: 2, isDurable: false, environmentOf })
  }, START_MS)
  afterAll(async () => {
    await office?.close()
    removeFolder(folder)
  })

  const write = (node: number, text: string) => writeFileSync(files[node] ?? '', text)
  const nodeAt = (node: number) => {
    const found = office.nodes[node]
    if (found === undefined) throw new Error(`there is no node ${node}`)
    return found
  }
  const at = (node: number) => {
    const { server } = nodeAt(node)
    if (server === null) throw new Error(`node ${node} does not run`)
    return server
  }
  const readyKey = async (node: number) => (await (await at(node).ask('/readyz')).json()).checks.key as string
  const make = async (node: number) => {
    const push = { payload: 'x', expire_after_views: 50, files: [{ filename: 'f.txt', data: 'aGk=' }] }
    return (await (await untilTaken(() => at(node).create(push, office.auth))).json()).url_token as string
  }
  /** Opens a push through one node, and one of its files through the other, and lists it there. */
  async function openThrough(node: number, urlToken: string) {
    const answer = await untilTaken(() => at(node).retrieve(urlToken))
    const { payload, files: opened } = await answer.json()
    const other = at(1 - node)
    const download = await untilTaken(() => other.ask(new URL(opened[0].url).pathname))
    const list = await untilTaken(() => other.ask('/api/v2/pushes/active', { headers: office.auth }))
    const preview = await untilTaken(() => other.ask(`/api/v2/pushes/${urlToken}/preview`))
    return [payload, await download.text(), (await list.text()).includes(urlToken), preview.status]
  }
  const OPENED = ['x', 'hi', true, 200]

  test(
    'is given to all nodes while they are stopped, and a node with the former file does not start',
    async () => {
      const tokens = [await make(0), await make(1)]
      for (const node of [0, 1]) await nodeAt(node).end('SIGTERM')
      await office.command(['key', 'rotate'])
      const rotated = readFileSync(files[0] ?? '', 'utf8')
      expect(rotated).toMatch(/^2 .*\n(.*\n)*1 /m)
      await nodeAt(0).start()
      await expect(nodeAt(1).start()).rejects.toThrow(/Key 2 .*is missing from the key file/)
      write(1, rotated)
      await nodeAt(1).start()
      tokens.push(await make(0), await make(1))
      for (const urlToken of tokens)
        for (const node of [0, 1]) expect(await openThrough(node, urlToken)).toEqual(OPENED)
      expect([await readyKey(0), await readyKey(1)]).toEqual(['ok', 'ok'])
    },
    START_MS,
  )
})
