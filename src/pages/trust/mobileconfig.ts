// A configuration profile that makes Apple devices trust a certificate authority.

type ProfileOptions = {
  /** The certificate in DER. */
  der: Buffer
  /** `AB:CD:…`, from which the profile takes its identifiers. */
  fingerprint: string
  name: string
}

/**
 * Returns the profile, as described in Apple's device management profile reference,
 * `com.apple.security.root`.
 */
export function profileFor({ der, fingerprint, name }: ProfileOptions): string {
  const hex = fingerprint.replaceAll(':', '').toLowerCase()
  const label = Bun.escapeHTML(name)
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>PayloadContent</key>
  <array>
    <dict>
      <key>PayloadCertificateFileName</key><string>oncebox.cer</string>
      <key>PayloadContent</key><data>${der.toString('base64')}</data>
      <key>PayloadDisplayName</key><string>${label}</string>
      <key>PayloadIdentifier</key><string>oncebox.authority.${hex.slice(0, 16)}.root</string>
      <key>PayloadType</key><string>com.apple.security.root</string>
      <key>PayloadUUID</key><string>${uuidIn(hex)}</string>
      <key>PayloadVersion</key><integer>1</integer>
    </dict>
  </array>
  <key>PayloadDisplayName</key><string>${label}</string>
  <key>PayloadIdentifier</key><string>oncebox.authority.${hex.slice(0, 16)}</string>
  <key>PayloadType</key><string>Configuration</string>
  <key>PayloadUUID</key><string>${uuidIn(hex.slice(32))}</string>
  <key>PayloadVersion</key><integer>1</integer>
</dict>
</plist>
`
}

/** Returns the first 32 hexadecimal digits as a UUID. */
function uuidIn(hex: string): string {
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)]
  return parts.join('-').toUpperCase()
}
