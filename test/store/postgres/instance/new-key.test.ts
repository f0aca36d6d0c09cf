// How a new instance key comes to the nodes that serve one database: in two steps, so that none ever seals what others cannot open.

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
  test('does not come first while another node lacks it, and the refusal tells the two steps', async () => {
    const { second, line } = await serveWithKeyOne()
    putFirst(second.keyFile, line)
    const refused = second.open({ name: 'two' })
    await expect(refused).rejects.toThrow(/Key 2 is the first .* the node one cannot open what it seals/)
    await expect(refused).rejects.toThrow(
      /First put its line behind the others .* When all have it, put it first/,
    )
    expect(await query('SELECT number FROM instance_keys')).toEqual([{ number: 1 }])
    expect(await query('SELECT name FROM nodes')).toEqual([{ name: 'one' }])
  })

  test('comes behind the others, then first, and every node opens everything at each step', async () => {
    const { first, second, serving, line } = await serveWithKeyOne()
    putSecond(second.keyFile, line)
    const two = await second.open({ name: 'two' })
    await beat(serving)
    expect(serving.database?.findKeyLack()).toEqual({
      why: expect.stringContaining(
        'This node lacks key 2, which other nodes have. Nothing is sealed under it yet.',
      ),
      isBlocking: false,
    })
    expect(() => serving.keys.requireAll()).not.toThrow()
    expect(
      (await two.database?.listNodes())?.map(({ lacks, cannotOpenAll }) => ({ lacks, cannotOpenAll })),
    ).toEqual([
      { lacks: [2], cannotOpenAll: false },
      { lacks: [], cannotOpenAll: false },
    ])

    await two.close()
    writeFileSync(second.keyFile, readFileSync(first.keyFile))
    putFirst(second.keyFile, line)
    await expect(second.open()).rejects.toThrow('Key 2 is the first')

    await serving.close()
    putSecond(first.keyFile, line)
    const one = await first.open({ name: 'one' })
    const sealing = await second.open({ name: 'two' })
    expect(sealing.keyring.sealing.number).toBe(2)
    await beat(one)
    expect([one.database?.findKeyLack(), sealing.database?.findKeyLack()]).toEqual([null, null])
    expect((await one.database?.listNodes())?.flatMap(({ lacks }) => lacks)).toEqual([])
  })

  test('that a node missed because it was taken for dead keeps it from saying that something does not exist', async () => {
    const { first, second, serving, line } = await serveWithKeyOne()
    await query('UPDATE nodes SET seen_at = 0')
    putFirst(second.keyFile, line)
    const sealing = await second.open({ name: 'two' })
    nodes.clock.advance(46_000)
    expect(() => serving.keys.requireAll()).toThrow('This server lacks a key')
    await beat(serving)
    expect(() => serving.keys.requireAll()).toThrow('This server lacks a key')
    expect(() => serving.keys.requireShared()).not.toThrow()
    expect(serving.database?.findKeyLack()).toEqual({
      why: expect.stringMatching(
        /^This node lacks key 2, under which other nodes seal: .* Give this node the key file/,
      ),
      isBlocking: true,
    })
    expect(first.warnings.at(-1)).toBe(serving.database?.findKeyLack()?.why ?? '')
    await beat(sealing)
    expect(() => sealing.keys.requireAll()).not.toThrow()
    expect((await sealing.database?.listNodes())?.filter(({ cannotOpenAll }) => cannotOpenAll)).toMatchObject(
      [{ name: 'one', lacks: [2] }],
    )
  })

  test('may be given up again before it was first', async () => {
    const { first, second, line } = await serveWithKeyOne()
    putSecond(second.keyFile, line)
    await (await second.open({ name: 'two' })).close()
    writeFileSync(second.keyFile, readFileSync(first.keyFile))
    await second.open({ name: 'two' })
    expect(await query('SELECT number FROM instance_keys')).toEqual([{ number: 1 }])
  })

  test('is not given up while another node has it', async () => {
    const { first, second, line } = await serveWithKeyOne()
    putSecond(second.keyFile, line)
    await second.open({ name: 'two' })
    const third = makeNode()
    writeFileSync(third.keyFile, readFileSync(first.keyFile))
    await expect(third.open()).rejects.toThrow('Key 2 is missing from the key file')
  })

  test('may be first at once where no other node runs', async () => {
    const { first, serving, line } = await serveWithKeyOne()
    await serving.close()
    putFirst(first.keyFile, line)
    const again = await first.open()
    expect(again.keyring.sealing.number).toBe(2)
    expect(first.warnings.join()).not.toContain('key')
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
    expect(() => forgotten.keys.requireShared()).toThrow('This server lacks a key')
    expect(forgotten.database?.findKeyLack()).toMatchObject({
      why: expect.stringContaining('Other nodes lack key 2, under which this node seals'),
      isBlocking: true,
    })
  })
})
