// Makes the certificates of this server's own authority (X.509, P-256).

// Must precede the library @peculiar/x509, which looks for decorators' metadata while it is imported.
import './decorator-metadata.ts'
import { AsnConvert } from '@peculiar/asn1-schema'
import {
  GeneralName,
  GeneralSubtree,
  GeneralSubtrees,
  id_ce_nameConstraints,
  NameConstraints,
} from '@peculiar/asn1-x509'
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  cryptoProvider,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  Extension,
  type JsonGeneralNames,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate as X509,
  X509CertificateGenerator,
} from '@peculiar/x509'
import { randomKey } from './random.ts'

/** A certificate and its private key, both in PEM. */
export type KeyPair = { certificate: string; key: string }

/** Milliseconds since 1970. */
type Validity = { from: number; until: number }

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

/**
 * An authority that can vouch only for these names and their subdomains. Its IP addresses are not limited,
 * because some clients (BoringSSL) refuse every certificate below an authority with limited addresses.
 */
export async function makeAuthority(of: {
  commonName: string
  names: readonly string[]
  validity: Validity
}): Promise<KeyPair> {
  cryptoProvider.set(crypto)
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: newSerial(),
    name: [{ CN: [of.commonName] }],
    ...datesOf(of.validity),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      constrainTo(of.names),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return { certificate: certificate.toString('pem'), key: await privatePem(keys.privateKey) }
}

/**
 * Issues a server's certificate. A single name that the authority may not vouch for makes the whole
 * certificate invalid.
 */
export async function makeLeaf(
  authority: KeyPair,
  of: { names: readonly string[]; addresses: readonly string[]; validity: Validity },
): Promise<KeyPair> {
  cryptoProvider.set(crypto)
  const issuer = new X509(authority.certificate)
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
  const names: JsonGeneralNames = [
    ...of.names.map((value) => ({ type: 'dns' as const, value })),
    ...of.addresses.map((value) => ({ type: 'ip' as const, value })),
  ]
  const certificate = await X509CertificateGenerator.create({
    serialNumber: newSerial(),
    subject: [{ CN: [of.names[0] ?? of.addresses[0] ?? 'oncebox'] }],
    issuer: issuer.subjectName.toJSON(),
    ...datesOf(of.validity),
    signingAlgorithm: ALGORITHM,
    signingKey: await importKey(authority.key),
    publicKey: keys.publicKey,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension(names),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
      await AuthorityKeyIdentifierExtension.create(issuer),
    ],
  })
  return { certificate: certificate.toString('pem'), key: await privatePem(keys.privateKey) }
}

function datesOf({ from, until }: Validity) {
  return { notBefore: new Date(from), notAfter: new Date(until) }
}

/**
 * Returns 127 random bits. A first byte below 128 keeps the number positive, and above 0 keeps its encoding
 * minimal.
 */
function newSerial(): string {
  const bytes = randomKey(16)
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40
  return bytes.toString('hex')
}

function constrainTo(names: readonly string[]): Extension {
  const permittedSubtrees = new GeneralSubtrees(
    names.map((name) => new GeneralSubtree({ base: new GeneralName({ dNSName: name }) })),
  )
  return new Extension(
    id_ce_nameConstraints,
    true,
    AsnConvert.serialize(new NameConstraints({ permittedSubtrees })),
  )
}

async function privatePem(key: CryptoKey): Promise<string> {
  return PemConverter.encode(await crypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY')
}

function importKey(pem: string): Promise<CryptoKey> {
  return crypto.subtle.importKey('pkcs8', PemConverter.decodeFirst(pem), ALGORITHM, false, ['sign'])
}

/** The names that an authority may vouch for. Throws when the certificate cannot be read. */
export function namesOfAuthority(certificate: string): string[] {
  const constraints = new X509(certificate).getExtension(id_ce_nameConstraints)
  if (constraints === null) return []
  const { permittedSubtrees } = AsnConvert.parse(constraints.value, NameConstraints)
  return [...(permittedSubtrees ?? [])].flatMap(({ base }) => base.dNSName ?? [])
}
