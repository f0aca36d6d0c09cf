// The text of a Wi-Fi QR code. The browser runs this too, for its preview.
// https://github.com/zxing/zxing/wiki/Barcode-Contents#wi-fi-network-config-android-ios-11

export const WIFI_TYPES = ['WPA', 'WEP', 'nopass'] as const
type WifiType = (typeof WIFI_TYPES)[number]

/** The names of the standards, the same in every language. An open network has none. */
export const WIFI_STANDARDS: Partial<Record<WifiType, string>> = { WPA: 'WPA / WPA2 / WPA3', WEP: 'WEP' }

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

/**
 * `R` and `K` are extensions for WPA3. Enterprise networks have further fields, which a `Wifi` cannot hold.
 */
const KNOWN_FIELDS: ReadonlySet<string> = new Set(['T', 'S', 'P', 'H', 'R', 'K'])

/** The names that other programs use for a type, in lower case. */
const TYPE_NAMES: ReadonlyMap<string, WifiType> = new Map([
  ...['wpa', 'wpa2', 'wpa3', 'sae', 'wpa/wpa2', 'wpa2/wpa3'].map((name) => [name, 'WPA'] as const),
  ['wep', 'WEP'],
  ['nopass', 'nopass'],
  ['', 'nopass'],
])

/**
 * Returns null if the text is not a Wi-Fi text or is ambiguous: the page must show exactly what a camera
 * reads.
 */
export function parseWifi(text: string): Wifi | null {
  const fields = parseFields(text)
  if (fields === null || [...fields.keys()].some((name) => !KNOWN_FIELDS.has(name))) return null
  const [network = '', password = '', hidden = ''] = ['S', 'P', 'H'].map((name) => fields.get(name))
  const type = TYPE_NAMES.get((fields.get('T') ?? '').toLowerCase())
  if (network === '' || type === undefined || (type === 'nopass') !== (password === '')) return null
  return { network, password, type, isHidden: hidden.toLowerCase() === 'true' }
}

/** Returns null if the text is not a Wi-Fi text or contains a field twice. */
function parseFields(text: string): Map<string, string> | null {
  const prefix = 'WIFI:'
  if (text.slice(0, prefix.length).toUpperCase() !== prefix) return null
  const field = /([A-Z]\w*):((?:\\.|[^\\;])*);/suy
  const found = new Map<string, string>()
  field.lastIndex = prefix.length
  let end = prefix.length
  for (let match = field.exec(text); match !== null; match = field.exec(text)) {
    const [, name = '', value = ''] = match
    if (found.has(name)) return null
    found.set(name, value.replace(/\\(.)/gsu, '$1'))
    end = field.lastIndex
  }
  return /^;?\s*$/.test(text.slice(end)) ? found : null
}
