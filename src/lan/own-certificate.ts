// The certificate of --tls auto: an authority that is made once, and a short-lived certificate below it.

import { type CertificateFacts, isIssuedBy, isKeyOf, readCertificate } from '../crypto/certificate-facts.ts'
import { type KeyPair, makeAuthority, makeLeaf, namesOfAuthority } from '../crypto/certificates.ts'
import { conflict, type DomainError } from '../domain/errors.ts'
import { DAY, type Now } from '../domain/time.ts'
import type { Authority, Certificate } from './certificate.ts'
import { normalAddress, ownAddresses } from './own-names.ts'

/** A file that holds a certificate and its key. */
type PairFile = {
  path: string
  read(): Promise<string | null>
  write(text: string): Promise<void>
}

type OwnCertificateOptions = {
  authorityFile: PairFile
  leafFile: PairFile
  /** The names of the certificate. The authority is named after the first one. */
  names: readonly string[]
  listAddresses: () => readonly string[]
  now: Now
  onNewAuthority: (why: string, authority: Authority) => void
}

const AUTHORITY_LIFETIME = 3 * 365 * DAY
const LEAF_LIFETIME = 90 * DAY
/** The remaining validity below which a certificate is renewed. */
const RENEW_BEFORE = 30 * DAY
/** Certificates begin this much earlier, because the clocks of clients may be behind. */
const BACKDATED = DAY

/** Throws `conflict` when the file of the authority cannot be used. */
export async function openOwnCertificate(options: OwnCertificateOptions): Promise<Certificate> {
  const { leafFile, names, listAddresses, now } = options
  const authority = await openAuthority(options)
  const about = readCertificate(authority.certificate)
  let leaf = usable(await leafFile.read()) ?? (await makeNext())

  /** Returns the certificate and key in the text; null unless this authority has issued them. */
  function usable(text: string | null): KeyPair | null {
    const pair = text === null ? null : pairIn(text)
    return pair !== null && isIssuedBy(pair.certificate, authority.certificate) ? pair : null
  }

  function isDue(facts: CertificateFacts): boolean {
    const known = new Set([...facts.names, ...facts.addresses.map(normalAddress)])
    const isComplete = [...names, ...ownAddresses(listAddresses)].every((name) => known.has(name))
    return !isComplete || now() < facts.validFrom || now() > facts.validUntil - RENEW_BEFORE
  }

  async function makeNext(): Promise<KeyPair> {
    const made = await makeLeaf(authority, {
      names,
      addresses: ownAddresses(listAddresses),
      validity: { from: now() - BACKDATED, until: Math.min(now() + LEAF_LIFETIME, about.validUntil) },
    })
    await leafFile.write(textOf(made))
    return made
  }

  async function refresh(): Promise<boolean> {
    if (!isDue(readCertificate(leaf.certificate))) return false
    leaf = await makeNext()
    return true
  }

  await refresh()
  return {
    current: () => ({ certificate: chainOf(leaf, authority), key: leaf.key }),
    facts: () => readCertificate(leaf.certificate),
    refresh,
    authority: presentAuthority(authority),
  }
}

async function openAuthority(options: OwnCertificateOptions): Promise<KeyPair> {
  const { authorityFile, names, now, onNewAuthority } = options
  const text = await authorityFile.read()
  const known = text === null ? null : pairIn(text)
  if (text !== null && known === null) throw unusable(authorityFile.path)
  const why = known === null ? 'there was none' : whyAnother(known, options)
  if (known !== null && why === null) return begun(known, options)
  const authority = await makeAuthority({
    commonName: `Oncebox on ${names[0]}`,
    names,
    validity: { from: now() - BACKDATED, until: now() + AUTHORITY_LIFETIME },
  })
  await authorityFile.write(textOf(authority))
  onNewAuthority(why ?? '', presentAuthority(authority))
  return authority
}

/** Returns the reason for a new authority; null if this one can still vouch for this machine. */
function whyAnother({ certificate }: KeyPair, { names, now }: OwnCertificateOptions): string | null {
  const permitted = namesOfAuthority(certificate)
  const missing = names.find((name) => !permitted.includes(name))
  if (missing !== undefined) return `the former one may not vouch for ${missing}`
  const { validUntil } = readCertificate(certificate)
  return now() > validUntil - RENEW_BEFORE ? 'the former one ends soon' : null
}

/**
 * Throws `conflict` for an authority that was created while the clock was ahead, because every device refuses
 * it until then.
 */
function begun(known: KeyPair, { authorityFile, now }: OwnCertificateOptions): KeyPair {
  const { validFrom } = readCertificate(known.certificate)
  if (now() >= validFrom) return known
  throw conflict(
    `The authority in ${authorityFile.path} is valid from ${new Date(validFrom).toISOString().slice(0, 10)} on. Set the clock of ` +
      'this machine right. If it is right, delete the file: then a new authority is made, which every device has to trust anew.',
  )
}

function unusable(path: string): DomainError {
  return conflict(
    `The file ${path} does not hold an authority and its key. Put it back from a backup, or delete it: then a new authority ` +
      'is made, which every device has to trust anew.',
  )
}

function presentAuthority({ certificate }: KeyPair): Authority {
  return { certificate, ...readCertificate(certificate) }
}

function chainOf(leaf: KeyPair, authority: KeyPair): string {
  return `${leaf.certificate.trim()}\n${authority.certificate.trim()}\n`
}

function textOf({ certificate, key }: KeyPair): string {
  return `${certificate.trim()}\n${key.trim()}\n`
}

/** Parses a certificate with its key; returns null for any other text. */
function pairIn(text: string): KeyPair | null {
  const block = (label: string) =>
    new RegExp(`-----BEGIN ${label}-----[^-]+-----END ${label}-----`).exec(text)?.[0] ?? ''
  const pair = { certificate: block('CERTIFICATE'), key: block('PRIVATE KEY') }
  try {
    return isKeyOf(pair) ? pair : null
  } catch {
    return null
  }
}
