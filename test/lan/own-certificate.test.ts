// The certificate of --tls auto: created once, kept, renewed before it expires, and created anew if the
// machine changes.

import { beforeEach, expect, test } from 'bun:test'
import { readCertificate } from '../../src/crypto/certificate-facts.ts'
import { openOwnCertificate } from '../../src/lan/own-certificate.ts'

const DAY = 24 * 60 * 60 * 1000
const START = Date.parse('2026-11-20T12:00:00Z')

let time: number
let addresses: string[]
let files: Record<string, string>
let reasons: string[]

beforeEach(() => {
  time = START
  addresses = ['192.168.1.20', 'fe80::1', 'fd00::2']
  files = {}
  reasons = []
})

function file(path: string) {
  return {
    path,
    read: async () => files[path] ?? null,
    write: async (text: string) => {
      files[path] = text
    },
  }
}

const open = (names = ['box.local', 'box', 'localhost']) =>
  openOwnCertificate({
    authorityFile: file('authority'),
    leafFile: file('leaf'),
    names,
    listAddresses: () => addresses,
    now: () => time,
    onNewAuthority: (why) => reasons.push(why),
  })

test('the first start creates an authority for three years and a certificate for 90 days; the next keeps both', async () => {
  const first = await open()
  expect(reasons).toEqual(['there was none'])
  expect((first.authority?.validUntil ?? 0) - START).toBe(3 * 365 * DAY)
  expect(first.facts().validUntil - START).toBe(90 * DAY)
  const again = await open()
  expect(again.current()).toEqual(first.current())
  expect(again.authority?.fingerprint).toBe(first.authority?.fingerprint ?? '')
  expect(reasons).toHaveLength(1)
})

test('the certificate has the names and addresses of the machine, but no link-local ones', async () => {
  const { certificate } = (await open()).current()
  const { names, addresses: named } = readCertificate(certificate)
  expect(names).toEqual(['box.local', 'box', 'localhost'])
  expect(named).toHaveLength(4)
  expect(named).toContain('192.168.1.20')
})

test('the certificate is renewed a month before its end, by the same authority', async () => {
  const served = await open()
  const before = served.current()
  time += 59 * DAY
  expect(await served.refresh()).toBe(false)
  time += 2 * DAY
  expect(await served.refresh()).toBe(true)
  expect(served.current()).not.toEqual(before)
  expect(served.facts().validUntil).toBe(time + 90 * DAY)
  expect(reasons).toHaveLength(1)
})

test('a new address of the machine causes a new certificate; a removed one does not', async () => {
  const served = await open()
  addresses = []
  expect(await served.refresh()).toBe(false)
  addresses = ['10.0.0.9']
  expect(await served.refresh()).toBe(true)
  expect(readCertificate(served.current().certificate).addresses).toContain('10.0.0.9')
})

test('a machine with another name gets another authority, and a certificate from it', async () => {
  const former = await open()
  const renamed = await open(['nas.local', 'nas', 'localhost'])
  expect(reasons.at(-1)).toBe('the former one may not vouch for nas.local')
  expect(renamed.authority?.fingerprint).not.toBe(former.authority?.fingerprint ?? '')
  expect(renamed.facts().names).toEqual(['nas.local', 'nas', 'localhost'])
})

test('an authority that expires soon is replaced', async () => {
  await open()
  time += 3 * 365 * DAY - 29 * DAY
  await open()
  expect(reasons.at(-1)).toBe('the former one ends soon')
})

test('a truncated certificate is replaced; a truncated authority is refused, naming its path', async () => {
  const first = await open()
  files.leaf = files.leaf?.slice(0, 200) ?? ''
  expect((await open()).authority?.fingerprint).toBe(first.authority?.fingerprint ?? '')
  files.authority = files.authority?.slice(0, 200) ?? ''
  await expect(open()).rejects.toThrow('The file authority does not hold an authority and its key')
})

test('an authority created while the clock was ahead is refused after the correction, naming its path', async () => {
  await open()
  time -= 12 * 60 * 60 * 1000
  await open()
  time -= 400 * DAY
  await expect(open()).rejects.toThrow(
    'The authority in authority is valid from 2026-11-19 on. Set the clock',
  )
  expect(reasons).toHaveLength(1)
})
