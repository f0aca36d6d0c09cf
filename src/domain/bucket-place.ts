// The bucket of an S3-compatible store that holds the files, as `--files-url` names it.

/**
 * A bucket. `prefix` is empty or ends with a slash. `isPathStyle`: the bucket is named in the path of the
 * URL, not in its host.
 */
export type BucketPlace = {
  endpoint: string
  bucket: string
  prefix: string
  region: string
  isPathStyle: boolean
}

const EXAMPLE = 's3://bucket/prefix?endpoint=https://s3.example&region=us-east-1'
const BUCKET = /^[a-z\d][a-z\d._-]{1,61}[a-z\d]$/i
const PREFIX = /^[\w.=-]+(\/[\w.=-]+)*$/
const KNOWN = ['endpoint', 'region', 'path-style']
const TRUTHS: Record<string, boolean> = { '': true, true: true, '1': true, false: false, '0': false }

/** Parses the address of a bucket. A problem continues a sentence ("must …") and never repeats the text. */
export function parseBucketPlace(text: string): { place: BucketPlace } | { problem: string } {
  const url = URL.parse(text.trim())
  if (url === null || url.protocol !== 's3:') return { problem: `must be such as ${EXAMPLE}` }
  if (url.username !== '' || url.password !== '' || url.port !== '' || url.hash !== '')
    return { problem: 'must have no credentials, port or fragment: the keys have settings of their own' }
  // Refuse these, because the URL parser would resolve them.
  if (/\/(\.|%2e){1,2}(\/|\?|$)/i.test(text)) return { problem: 'must have no dots as parts of the prefix' }
  const prefix = url.pathname.replace(/^\/+|(?<!\/)\/+$/g, '')
  if (!BUCKET.test(url.hostname)) return { problem: `must name a bucket, such as ${EXAMPLE}` }
  if (prefix !== '' && !PREFIX.test(prefix))
    return { problem: 'must have a prefix of letters, digits, dots, dashes and slashes only' }
  return readOptions(url.searchParams, { bucket: url.hostname, prefix: prefix === '' ? '' : `${prefix}/` })
}

/** Returns the bucket of a text that `parseBucketPlace` accepts. */
export function bucketPlaceOf(text: string): BucketPlace {
  const parsed = parseBucketPlace(text)
  if ('place' in parsed) return parsed.place
  throw new Error(`--files-url ${parsed.problem}`)
}

/** Names a bucket in any language: its name, with its server in parentheses. */
export function nameBucket({ bucket, prefix, endpoint }: BucketPlace): string {
  return `${bucket}${prefix === '' ? '' : `/${prefix.slice(0, -1)}`} (${new URL(endpoint).host})`
}

function readOptions(
  options: URLSearchParams,
  named: Pick<BucketPlace, 'bucket' | 'prefix'>,
): { place: BucketPlace } | { problem: string } {
  const names = [...options.keys()]
  if (names.some((name) => !KNOWN.includes(name)) || new Set(names).size < names.length)
    return { problem: 'must have no options but endpoint, region and path-style, each once' }
  const region = options.get('region') ?? ''
  if (!/^[\w-]{0,64}$/.test(region)) return { problem: 'must name a region such as us-east-1' }
  const endpoint = options.get('endpoint')
  if (endpoint === null && region === '')
    return { problem: `must say region=, or endpoint= for another server than Amazon's` }
  const origin = endpoint === null ? `https://s3.${region}.amazonaws.com` : originOf(endpoint)
  if (origin === null)
    return { problem: 'must have an endpoint of http or https without a path, such as https://s3.example' }
  const isPathStyle = TRUTHS[options.get('path-style') ?? String(endpoint !== null)]
  if (isPathStyle === undefined) return { problem: 'must have path-style=true or path-style=false' }
  return { place: { ...named, endpoint: origin, region: region || 'us-east-1', isPathStyle } }
}

function originOf(text: string): string | null {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) return null
  return url.href === `${url.origin}/` ? url.origin : null
}
