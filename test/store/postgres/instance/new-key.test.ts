// How the nodes of one database get a new instance key: while all of them are stopped.

import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { newKeyFile } from '../../../../src/crypto/keyring.ts'
import { useNodes } from '../../../support/use-nodes.ts'
import { usePostgres } from '../../../support/use-postgres.ts'

const postgres = usePostgres()
const nodes = useNodes(postgres)
const { makeNode, query } = nodes

const line = `2 ${newKeyFile().trim().split(' ').at(-1)}\n`
const putSecond = (file: string) => writeFileSync(file, `${readFileSync(file, 'utf8')}${line}`)
const putFirst = (file: string) => writeFileSync(file, `${line}${readFileSync(file, 'utf8')}`)

postgres.describe('a new instance key', () => {
  test('is added while no other node serves, and a node that lacks it cannot start afterwards', async () => {
    const [first, second] = [makeNode(), makeNode()]
    const serving = await first.open()
    putFirst(second.keyFile)
    await expect(second.open()).rejects.toThrow('Stop all nodes, give each of them the same key file')
    await serving.close()
    const sealing = await second.open()
    await expect(first.open()).rejects.toThrow(/Key 2 .*is missing from the key file/)
    putFirst(first.keyFile)
    const again = await first.open()
    expect([again.keyring.sealing.number, sealing.keyring.sealing.number]).toEqual([2, 2])
    await again.close()
    await sealing.close()
  })

  test('that does not seal yet may be added to one node and removed again', async () => {
    const [first, second] = [makeNode(), makeNode()]
    const serving = await first.open()
    putSecond(second.keyFile)
    await (await second.open()).close()
    expect(await query('SELECT number::int FROM instance_keys')).toEqual([{ number: 1 }])
    await serving.close()
  })
})
