// The machine's id: lasting ones only, since a false alarm keeps a server from starting.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { linkSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readMachine } from '../../../src/store/folder/machine.ts'

const ID = '0123456789abcdef0123456789abcdef'
const ROOT = '29 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw'
const [EXT4, TMPFS, OVERLAY, SQUASHFS] = [0xef53, 0x01021994, 0x794c7630, 0x73717368]
let folder = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'oncebox-machine-'))
  write('machine-id', `${ID}\n`)
  write('mounts', ROOT)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const at = (name: string) => join(folder, name)
const write = (name: string, text: string) => writeFileSync(at(name), text)
const read = (type = EXT4) =>
  readMachine('linux', {
    machineId: at('machine-id'),
    transientId: at('transient-id'),
    containers: [at('dockerenv')],
    mounts: at('mounts'),
    typeUnder: () => type,
  })

test('a machine is known by a hash, which does not tell its id', () => {
  const machine = read()
  expect(machine).toMatch(/^[0-9a-f]{64}$/)
  expect(machine).not.toContain(ID)
  expect(read()).toBe(machine)
  write('machine-id', `${ID.replace('0', 'f')}\n`)
  expect(read()).not.toBe(machine)
})

test.each(['', 'uninitialized\n', 'not an id\n'])('an id that reads %j is none', (text) => {
  write('machine-id', text)
  expect(read()).toBeNull()
})

test('a system without the file has no id', () => {
  rmSync(at('machine-id'))
  expect(read()).toBeNull()
})

test('an id that lasts until the next restart is none', () => {
  linkSync(at('machine-id'), at('transient-id'))
  expect(read()).toBeNull()
})

test.each([TMPFS, OVERLAY, SQUASHFS])('an id on a file system of type %d goes or changes with it', (type) => {
  expect(read(type)).toBeNull()
})

test('a container has none', () => {
  write('dockerenv', '')
  expect(read()).toBeNull()
})

test('a container that was given the id of its machine has that', () => {
  const machine = read()
  write('dockerenv', '')
  write('mounts', `${ROOT}\n40 29 254:0 /etc/machine-id ${at('machine-id')} ro - ext4 /dev/vda rw`)
  expect(read()).toBe(machine)
})

test('this machine answers at once, with an id or without one', () => {
  expect(readMachine(process.platform) ?? '0'.repeat(64)).toMatch(/^[0-9a-f]{64}$/)
})
