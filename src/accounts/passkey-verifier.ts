// Verifies what browsers sign with passkeys. Loaded when the first answer arrives.

// Must come before the library, whose reader of certificates needs it.
import '../crypto/decorator-metadata.ts'
import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server'
import { decodeAttestationObject } from '@simplewebauthn/server/helpers'
import { MAX_CREDENTIAL_ID, MAX_PUBLIC_KEY, type RelyingParty } from '../domain/passkey.ts'

/** The members of a PublicKeyCredential, in base64url. */
export type Credential = { id: string } & Partial<
  Record<'clientDataJSON' | 'attestationObject' | 'authenticatorData' | 'signature' | 'userHandle', string>
>

export type Expected = { challenge: string; party: RelyingParty }

/** The signature algorithms that passkeys may use: Ed25519, ES256 and RS256 (COSE). */
const ALGORITHMS = [-8, -7, -257]

/** Returns the public key of a new passkey. Throws if the response is invalid. */
export async function verifyNew({ id, ...sent }: Credential, { challenge, party }: Expected) {
  const clientDataJSON = requireOwnFrame(sent.clientDataJSON)
  const attestationObject = withoutAttestation(sent.attestationObject ?? '')
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response: { ...FRAME, id, rawId: id, response: { clientDataJSON, attestationObject } },
    ...expectedOf(party, challenge),
    supportedAlgorithmIDs: ALGORITHMS,
  })
  const key = registrationInfo?.credential
  // The browser also sends the id outside the signed data. Only the signed one can be trusted.
  if (!verified || key === undefined || key.id !== id) throw new Error('the new passkey is not verified')
  const { publicKey, counter } = key
  const credentialId = Buffer.from(key.id, 'base64url')
  if (credentialId.length > MAX_CREDENTIAL_ID || publicKey.length > MAX_PUBLIC_KEY)
    throw new Error('the new passkey is too long')
  return { credentialId, publicKey, counter }
}

/** Returns the signature counter of an assertion. Throws if the response is invalid. */
export async function verifyUse(
  { id, ...sent }: Credential,
  { challenge, party, publicKey }: Expected & { publicKey: Uint8Array },
): Promise<number> {
  const { authenticatorData = '', signature = '' } = sent
  const clientDataJSON = requireOwnFrame(sent.clientDataJSON)
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: { ...FRAME, id, rawId: id, response: { clientDataJSON, authenticatorData, signature } },
    ...expectedOf(party, challenge),
    // The counter is compared later, under a lock.
    credential: { id, publicKey: new Uint8Array(publicKey), counter: 0 },
  })
  if (!verified) throw new Error('the signature is wrong')
  return authenticationInfo.newCounter
}

const FRAME = { type: 'public-key', clientExtensionResults: {} } as const

function expectedOf({ id, origin }: RelyingParty, challenge: string) {
  return {
    ...{ expectedChallenge: challenge, expectedOrigin: origin, expectedRPID: id },
    requireUserVerification: true,
  }
}

/** Refuses an assertion that was made inside another site's frame: no page of this server may be framed. */
function requireOwnFrame(clientDataJSON = ''): string {
  const { crossOrigin } = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString())
  if (crossOrigin === true) throw new Error('the answer comes from a frame')
  return clientDataJSON
}

/** An attestation object in CBOR, up to the bytes of `authData`. */
const NO_ATTESTATION = Buffer.from('\xa3cfmtdnonegattStmt\xa0hauthData\x59', 'latin1')

/**
 * Replaces any attestation by `none`, which is all that was asked for: to verify one, the library might fetch
 * lists of revoked certificates from the addresses in it.
 */
function withoutAttestation(attestationObject: string): string {
  const data = decodeAttestationObject(Buffer.from(attestationObject, 'base64url')).get('authData')
  const length = Buffer.alloc(2)
  length.writeUInt16BE(data.length)
  return Buffer.concat([NO_ATTESTATION, length, data]).toString('base64url')
}
