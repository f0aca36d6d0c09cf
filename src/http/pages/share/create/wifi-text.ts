// The text of a QR code that joins a Wi-Fi network, as cameras read it. The browser runs this too, for its preview.
// https://github.com/zxing/zxing/wiki/Barcode-Contents#wi-fi-network-config-android-ios-11

export const WIFI_TYPES = ['WPA', 'WEP', 'nopass'] as const
export type WifiType = (typeof WIFI_TYPES)[number]

export type Wifi = { network: string; password: string; type: WifiType; isHidden: boolean }

export function wifiText({ network, password, type, isHidden }: Wifi): string {
  const fields = [`T:${type}`, `S:${escapeField(network)}`]
  if (type !== 'nopass') fields.push(`P:${escapeField(password)}`)
  if (isHidden) fields.push('H:true')
  return `WIFI:${fields.join(';')};;`
}

function escapeField(text: string): string {
  return text.replace(/[\\;,":]/g, '\\$&')
}
