// How a new instance key comes to the nodes that serve one database: in two steps, so that every node serves all the time.

import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { newKeyFile } from '../../../../src/crypto/keyring.ts'
import { useNodes } from '../../../support/use-nodes.ts'
import { usePostgres } from '../../../support/use-postgres.ts'

const postgres = usePostgres()
const nodes = useNodes(postgres)
const { makeNode, query } = nodes

const keyLine = (number: number) => `${number} ${newKeyFile().trim().split(' ').at(-1)}\n`
const putSecond = (file: string, line: string) => writeFileSync(file, `${readFileSync(file, 'utf8')}${line}`)
const putFirst = (file: string, line: string) => writeFileSync(file, `${line}${readFileSync(file, 'utf8')}`)

/** Two nodes with key 1, and the line of a key that only the second has. `beatMs`: so rarely that the test says when. */
async function serveWithKeyOne() {
  const [first, second] = [makeNode(), makeNode()]
  return { first, second, serving: await first.open({ name: 'one', beatMs: 3_600_000 }), line: keyLine(2) }
}

const beat = (store: { clock: { accept(): Promise<void> } }) => store.clock.accept()

postgres.describe('a new instance key', () => {
  test('that comes first ends the serving of a node that lacks it, until it has it too', async () => {
    const { first, second, serving, line } = await serveWithKeyOne()
    putFirst(second.keyFile, line)
    const sealing = await second.open({ name: 'two' })
    await beat(serving)
    expect(serving.database?.findRefusal()).toMatch(
      /with key 2\), so nothing is served here\. Give this node the key file/,
    )
    expect(first.warnings.at(-1)).toBe(serving.database?.findRefusal() ?? '')
    await expect(serving.lists.countPushes()).rejects.toMatchObject({ code: 'overloaded' })
    await beat(sealing)
    expect(sealing.database?.findRefusal()).toBeNull()
    await serving.close()
    putSecond(first.keyFile, line)
    const again = await first.open({ name: 'one' })
    await beat(again)
    expect(again.database?.findRefusal()).toBeNull()
  })

  test('comes behind the others, then first, and every node serves at each step', async () => {
    const { first, second, serving, line } = await serveWithKeyOne()
    putSecond(second.keyFile, line)
    const two = await second.open({ name: 'two' })
    await beat(serving)
    expect(serving.database?.findRefusal()).toBeNull()
    await serving.close()
    putSecond(first.keyFile, line)
    const one = await first.open({ name: 'one' })
    await two.close()
    writeFileSync(second.keyFile, readFileSync(second.keyFile, 'utf8').replace(line, ''))
    putFirst(second.keyFile, line)
    const sealing = await second.open({ name: 'two' })
    expect(sealing.keyring.sealing.number).toBe(2)
    await beat(one)
    expect([one.database?.findRefusal(), sealing.database?.findRefusal()]).toEqual([null, null])
  })

  test('may be given up again before it was first', async () => {
    const { first, second, serving, line } = await serveWithKeyOne()
    await serving.close()
    putSecond(second.keyFile, line)
    await (await second.open({ name: 'two' })).close()
    await first.open({ name: 'one' })
    expect(await query('SELECT number::int FROM instance_keys')).toEqual([{ number: 1 }])
  })

  test('under which a node that was taken for dead still seals, and that the others gave up, seals no more', async () => {
    const [first, second] = [makeNode(), makeNode()]
    const line = keyLine(2)
    putFirst(first.keyFile, line)
    const forgotten = await first.open({ beatMs: 3_600_000 })
    await query('UPDATE nodes SET seen_at = 0')
    writeFileSync(second.keyFile, readFileSync(first.keyFile, 'utf8').replace(line, ''))
    await second.open()
    await beat(forgotten)
    expect(forgotten.database?.findRefusal()).toContain('without key 2')
  })
})
