// What serving TLS needs of a certificate, wherever it comes from.

/** Both in PEM; the certificate with the chain that clients need. */
export type TlsKeyPair = { certificate: string; key: string }

/** The authority that people trust once, for --tls auto. */
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
  /** Looks whether another certificate is due, and takes it. Resolves to whether `current` has changed. */
  refresh(): Promise<boolean>
  /** Null for certificates from files. */
  authority: Authority | null
}
