// A software authenticator: makes passkeys, signs with them, and lies as a test asks.

import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

/** The members of an answer that differ from the truth. */
export type Lies = {
  origin?: string
  rpId?: string
  challenge?: string
  type?: string
  crossOrigin?: boolean
  /** The bits of the flags: 1 is user presence, 4 user verification. */
  flags?: number
  counter?: number
  userHandle?: string
  signature?: string
  /** The format of the attestation, with a statement that names a revocation list. */
  attestation?: string
  /** The COSE key of the new passkey. */
  key?: Buffer
  /** The length of its id. */
  idLength?: number
}

export type MadePasskey = { id: string; userHandle: string; counter: number; privateKey: KeyObject }

type Call = {
  create?: { challenge: string; user: { id: string }; excludeCredentials: { id: string }[] }
  get?: { challenge: string; allowCredentials: { id: string }[] }
}

export type SoftwareAuthenticator = ReturnType<typeof createAuthenticator>

/** `isCounting`: whether it counts its signatures, as security keys do and synced passkeys do not. */
export function createAuthenticator({
  rpId = 'localhost',
  origin = 'http://localhost',
  isCounting = true,
} = {}) {
  const made: MadePasskey[] = []

  function clientData(type: string, challenge: string, lies: Lies): Buffer {
    const { crossOrigin = false } = lies
    const said = { type, challenge, origin, crossOrigin }
    const { type: t = type, challenge: c = challenge, origin: o = origin } = lies
    return Buffer.from(JSON.stringify({ ...said, type: t, challenge: c, origin: o }))
  }

  function authData(lies: Lies, counter: number, attested: Buffer | null = null): Buffer {
    const head = Buffer.alloc(37)
    createHash('sha256')
      .update(lies.rpId ?? rpId)
      .digest()
      .copy(head)
    head[32] = (lies.flags ?? 5) | (attested === null ? 0 : 0x40)
    head.writeUInt32BE(lies.counter ?? counter, 33)
    return attested === null ? head : Buffer.concat([head, attested])
  }

  /** Answers `navigator.credentials.create`. */
  function create({ create: call }: Call, lies: Lies = {}): Record<string, string> {
    if (call === undefined) throw new Error('the server wants no new passkey')
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const id = randomBytes(lies.idLength ?? 32)
    const idLength = Buffer.alloc(2)
    idLength.writeUInt16BE(id.length)
    const passkey = { id: id.toString('base64url'), userHandle: call.user.id, counter: 0, privateKey }
    made.push(passkey)
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
    const key = lies.key ?? Buffer.concat([hex('a5010203262001215820'), bytes(x), hex('225820'), bytes(y)])
    const data = authData(lies, 0, Buffer.concat([Buffer.alloc(16), idLength, id, key]))
    const length = Buffer.alloc(2)
    length.writeUInt16BE(data.length)
    const statement = lies.attestation === undefined ? hex('a0') : hex('a1637835638142abcd')
    const attestation = Buffer.concat([
      ...[hex('a363666d74'), text(lies.attestation ?? 'none'), text('attStmt'), statement],
      ...[text('authData'), hex('59'), length, data],
    ])
    return {
      id: passkey.id,
      clientDataJSON: clientData('webauthn.create', call.challenge, lies).toString('base64url'),
      attestationObject: attestation.toString('base64url'),
    }
  }

  /** Answers `navigator.credentials.get` with a passkey, by default the last one. */
  function get({ get: call }: Call, lies: Lies = {}, passkey = made.at(-1)): Record<string, string> {
    if (call === undefined || passkey === undefined) throw new Error('there is no passkey to sign with')
    passkey.counter += isCounting ? 1 : 0
    const data = authData(lies, passkey.counter)
    const client = clientData('webauthn.get', call.challenge, lies)
    const signed = Buffer.concat([data, createHash('sha256').update(client).digest()])
    return {
      id: passkey.id,
      clientDataJSON: client.toString('base64url'),
      authenticatorData: data.toString('base64url'),
      signature: lies.signature ?? sign('sha256', signed, passkey.privateKey).toString('base64url'),
      userHandle: lies.userHandle ?? passkey.userHandle,
    }
  }

  return { made, create, get }
}

type Asking = { post: (path: string, fields: Record<string, string>) => Promise<{ text: string }> }

/** Requests a challenge, as the script of a page does. */
export async function askChallenge(browser: Asking, fields: Record<string, string> = {}) {
  return JSON.parse((await browser.post('/sign-in/passkey/challenge', fields)).text)
}

const hex = (digits: string) => Buffer.from(digits, 'hex')
const bytes = (base64url: string) => Buffer.from(base64url, 'base64url')
/** A text of less than 24 bytes in CBOR. */
const text = (said: string) => Buffer.concat([Buffer.from([0x60 + said.length]), Buffer.from(said)])
