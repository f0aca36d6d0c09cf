// The interface of a certificate for serving TLS, from files or of our own.

/** Both in PEM; the certificate with the chain that clients need. */
export type TlsKeyPair = { certificate: string; key: string }

/** The authority of --tls auto, which each device has to trust once. */
export type Authority = {
  /** In PEM, without the key. */
  certificate: string
  /** In DER. */
  der: Buffer
  fingerprint: string
  /** Milliseconds since 1970. */
  validUntil: number
}

export type Certificate = {
  current(): TlsKeyPair
  /** Milliseconds since 1970. */
  validUntil(): number
  names(): string[]
  /** Replaces the certificate when another one is due. Resolves to whether `current` has changed. */
  refresh(): Promise<boolean>
  /** Null for certificates from files. */
  authority: Authority | null
}
