// Certificates of a server's own authority: which clients accept them, and for which names.

import { afterAll, expect, test } from 'bun:test'
import { isIssuedBy, isKeyOf, readCertificate } from '../../src/crypto/certificate-facts.ts'
import { makeAuthority, makeLeaf, namesOfAuthority } from '../../src/crypto/certificates.ts'

const DAY = 24 * 60 * 60 * 1000
const validity = { from: Date.now() - DAY, until: Date.now() + 30 * DAY }
const authority = await makeAuthority({ commonName: 'Oncebox on box', names: ['localhost', 'box'], validity })
const leaf = await makeLeaf(authority, {
  names: ['localhost', 'box'],
  addresses: ['127.0.0.1', '::1', '192.0.2.7'],
  validity,
})

const open: { stop(force: boolean): unknown }[] = []
afterAll(() => {
  for (const server of open) server.stop(true)
})

function serve({ certificate, key }: { certificate: string; key: string }): string {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    tls: { cert: certificate, key },
    fetch: () => new Response('ok'),
  })
  open.push(server)
  return `https://localhost:${server.port}`
}

const ask = async (url: string, ca: string) => (await fetch(url, { tls: { ca } })).text()

test('a certificate names its purpose, its validity and its owner', () => {
  const facts = readCertificate(leaf.certificate)
  expect(facts.names).toEqual(['localhost', 'box'])
  expect(facts.addresses).toHaveLength(3)
  expect(Math.abs(facts.validUntil - validity.until)).toBeLessThan(1000)
  expect(facts.fingerprint).toMatch(/^([\dA-F]{2}:){31}[\dA-F]{2}$/)
  expect(isIssuedBy(leaf.certificate, authority.certificate)).toBe(true)
  expect(isKeyOf(leaf)).toBe(true)
  expect(isKeyOf({ ...leaf, key: authority.key })).toBe(false)
})

test('a client that trusts the authority accepts the certificate, and one that trusts another does not', async () => {
  const url = serve(leaf)
  expect(await ask(url, authority.certificate)).toBe('ok')
  const other = await makeAuthority({ commonName: 'Oncebox on box', names: ['localhost', 'box'], validity })
  await expect(ask(url, other.certificate)).rejects.toThrow()
  expect(isIssuedBy(leaf.certificate, other.certificate)).toBe(false)
})

test('an authority can vouch for the names of its machine alone', async () => {
  expect(namesOfAuthority(authority.certificate)).toEqual(['localhost', 'box'])
  const foreign = await makeLeaf(authority, { names: ['localhost', 'bank.example'], addresses: [], validity })
  await expect(ask(serve(foreign), authority.certificate)).rejects.toThrow()
})

test('every certificate has a different serial number', async () => {
  const [one, other] = await Promise.all(
    [1, 2].map(() => makeLeaf(authority, { names: ['box'], addresses: [], validity })),
  )
  expect(one?.certificate).not.toBe(other?.certificate ?? '')
})
