// Scripts, styles and icons: embedded in the binary and served compressed under names with a content hash.
//
// During a rolling upgrade, a page of one version may ask a node of the other version for its assets. Such a
// node sends its own styles, icons and words. It sends no script, because a script works only with pages of
// its own version; the page then works as without JavaScript.

import { promisify } from 'node:util'
import { DomainError } from '../../domain/errors.ts'
import { answerAsset, type CacheRule } from '../../http/answers.ts'
import type { RouteRequest } from '../../http/door/router.ts'
import { FILES } from '../../http/urls.ts'
import { hashBundle, hashStyle } from './browser-bundles.ts' with { type: 'macro' }
import type { SCRIPTS } from './bundles.ts'
import { colorStyle } from './color-style.ts'
import favicon from './favicon.ico' with { type: 'file' }
import icon from './icon.svg' with { type: 'text' }
import icon192 from './icon-192.png' with { type: 'file' }
import icon512 from './icon-512.png' with { type: 'file' }
import { LOGO_POLICY, type Logo } from './logo.ts'

/** The scripts of the pages. */
export type ScriptName =
  | 'answer'
  | 'ask'
  | 'common'
  | 'create'
  | 'handover'
  | 'lists'
  | 'passkey'
  | 'receive'
  | 'strength'

type Asset = { name: string; type: string; policy?: string; read: () => Promise<Bytes> }
/** An asset, and how long browsers may cache it. */
type CachedAsset = { asset: Asset; kept: CacheRule }
type Bytes = Uint8Array<ArrayBuffer>

const CSS = 'text/css; charset=utf-8'
const SCRIPT = 'text/javascript; charset=utf-8'
const SVG = 'image/svg+xml'
const PNG = 'image/png'

const HASHED = /^([a-z-]+)-[0-9a-z]{8,13}(\.[a-z]+)$/

/** Served instead of a script of another version, which would leave buttons without effect. */
const NO_SCRIPT: Asset = {
  name: 'none.js',
  type: SCRIPT,
  read: async () =>
    Buffer.from('// A node of another version made this page. It works without this script.\n'),
}

export type Assets = ReturnType<typeof createAssets>

type AssetsOptions = {
  /** The path of --base-url. */
  basePath: string
  /** The operator's colour, as `#rrggbb`, and logo. */
  brand?: { color: string | null; logo: Logo | null }
}

export function createAssets({ basePath, brand }: AssetsOptions) {
  const assets = {
    style: ofStyle(brand?.color ? colorStyle(brand.color) : ''),
    icon: ofText('icon.svg', SVG, icon),
    icon192: ofFile('icon-192.png', PNG, icon192),
    icon512: ofFile('icon-512.png', PNG, icon512),
    common: ofScript('common', hashBundle('common.js')),
    answer: ofScript('answer', hashBundle('answer.js')),
    ask: ofScript('ask', hashBundle('ask.js')),
    create: ofScript('create', hashBundle('create.js')),
    qrPicture: ofScript('qr-picture', hashBundle('qr-picture.js')),
    qrPreview: ofScript('qr-preview', hashBundle('qr-preview.js')),
    lists: ofScript('lists', hashBundle('lists.js')),
    handover: ofScript('handover', hashBundle('handover.js')),
    passkey: ofScript('passkey', hashBundle('passkey.js')),
    receive: ofScript('receive', hashBundle('receive.js')),
    seal: ofScript('seal', hashBundle('sealed/seal.js')),
    identity: ofScript('identity', hashBundle('sealed/identity.js')),
    unseal: ofScript('unseal', hashBundle('sealed/unseal.js')),
    wordlist: ofScript('words', hashBundle('words.js')),
    age: {
      name: `age-${hashBundle('sealed/age.js')}.js`,
      type: SCRIPT,
      read: async () => Buffer.from((await import('./age-script.ts')).ageScript),
    },
    strength: {
      name: `strength-${hashBundle('strength.js')}.js`,
      type: SCRIPT,
      read: async () => Buffer.from((await import('./strength-script.ts')).strengthScript),
    },
  }
  const logo = brand?.logo ? ofLogo(brand.logo) : null
  const served: Asset[] = [...Object.values(assets), ...(logo === null ? [] : [logo])]
  const byName = new Map(served.map((asset) => [asset.name, asset]))
  const byStableName = new Map(served.map((asset) => [stableName(asset.name), asset]))
  /** Use paths without a host, so that a page loads its assets from its own origin. */
  const hrefs = new Map(served.map((asset) => [asset, `${basePath}${FILES.asset.href(asset)}`]))
  const hrefTo = (asset: Asset) => hrefs.get(asset) ?? ''
  const compressed = new Map<string, Promise<Bytes>>()

  /** Answers /favicon.ico, which may be an image of any type. Pages link to the SVG or the logo instead. */
  async function answerFavicon(): Promise<Response> {
    const own = { type: 'image/x-icon', policy: undefined, read: () => Bun.file(favicon).bytes() }
    const { type, policy, read } = logo ?? own
    return answerAsset(await read(), { type, kept: 'day', policy })
  }

  /** Answers the icon for the home screen of iOS, which supports no SVG. */
  const answerTouchIcon = async () =>
    answerAsset(await assets.icon192.read(), { type: PNG, kept: 'day', policy: undefined })

  function find(name: string): CachedAsset {
    const own = byName.get(name)
    if (own !== undefined) return { asset: own, kept: 'forever' }
    const other = HASHED.test(name) ? byStableName.get(stableName(name)) : undefined
    if (other === undefined) throw new DomainError('not_found', 'not-found')
    const runs = other.type === SCRIPT && other !== assets.wordlist
    // Caching this version's content under the name of another version would break that version.
    return { asset: runs ? NO_SCRIPT : other, kept: 'never' }
  }

  async function answer({ exchange, params }: RouteRequest): Promise<Response> {
    const { asset, kept } = find(params.name ?? '')
    const isCompressed = /\bgzip\b/.test(exchange.request.headers.get('accept-encoding') ?? '')
    const encoding = isCompressed ? { 'content-encoding': 'gzip' } : {}
    return answerAsset(isCompressed ? await compressOnce(asset) : await asset.read(), {
      ...{ type: asset.type, policy: asset.policy, kept },
      headers: { vary: 'accept-encoding', ...encoding },
    })
  }

  /** Assets hold no secrets, so compressing them leaks nothing. Pages are never compressed. */
  function compressOnce({ name, read }: Asset): Promise<Bytes> {
    const known = compressed.get(name) ?? read().then(compress)
    compressed.set(name, known)
    return known
  }

  return {
    answer,
    answerFavicon,
    answerTouchIcon,
    hrefOf: (name: keyof typeof assets): string => hrefTo(assets[name]),
    /** The URL of the logo; null if --brand-logo is not set. */
    logoHref: logo === null ? null : hrefTo(logo),
  }
}

async function compress(bytes: Bytes): Promise<Bytes> {
  // Load lazily: an idle server needs no compressor.
  const { gzip } = await import('node:zlib')
  return Buffer.from(await promisify(gzip)(bytes, { level: 9 }))
}

/** Returns the name without its content hash: the same in all versions. */
function stableName(name: string): string {
  return name.replace(HASHED, '$1$2')
}

/** Loads the text lazily, because an idle server needs no script. */
function ofScript(stem: keyof typeof SCRIPTS, hash: string): Asset {
  const read = async () => Buffer.from((await import('./bundles.ts')).SCRIPTS[stem])
  return { name: `${stem}-${hash}.js`, type: SCRIPT, read }
}

/** Loads the text lazily, like a script. `rules` are appended to those of every server. */
function ofStyle(rules: string): Asset {
  const read = async () => Buffer.from(`${(await import('./bundles.ts')).STYLE}${rules}`)
  return { name: `pages-${Bun.hash(`${hashStyle()}${rules}`).toString(36)}.css`, type: CSS, read }
}

function ofText(name: string, type: string, text: string): Asset {
  return ofBytes(name, type, Buffer.from(text))
}

/** Name the file by its content, because browsers cache it for a year. */
function ofFile(name: string, type: string, path: string): Asset {
  return { name, type, read: () => Bun.file(path).bytes() }
}

function ofLogo({ bytes, type, extension }: Logo): Asset {
  return { ...ofBytes(`logo.${extension}`, type, bytes), policy: LOGO_POLICY }
}

function ofBytes(name: string, type: string, bytes: Bytes): Asset {
  const [stem, extension] = name.split('.')
  return { name: `${stem}-${Bun.hash(bytes).toString(36)}.${extension}`, type, read: async () => bytes }
}
