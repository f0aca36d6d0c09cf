// The manifest with which browsers install the pages as an app that the system can share texts and files
// with. https://www.w3.org/TR/appmanifest/, https://w3c.github.io/web-share-target/

import { answerAsset } from '../../http/answers.ts'
import { PAGES } from '../../http/urls.ts'
import type { Assets } from './assets.ts'

export const SHARED = { title: 'title', text: 'text', url: 'url', files: 'files' } as const

type ManifestOptions = {
  assets: Assets
  basePath: string
  readName: () => string
  color: string | null
}

const COLOR = '#24539b'

/** Answers with the manifest. There is no service worker, because nothing secret may be cached. */
export function createAnswerManifest({ assets, basePath, readName, color }: ManifestOptions): () => Response {
  const start = `${basePath}${PAGES.create.href()}`
  const png = (name: 'icon192' | 'icon512', size: number) => ({
    src: assets.hrefOf(name),
    sizes: `${size}x${size}`,
    type: 'image/png',
  })
  const logo = assets.logoHref === null ? [] : [{ src: assets.logoHref, sizes: 'any' }]
  const manifest = {
    id: start,
    start_url: start,
    scope: start,
    display: 'standalone',
    theme_color: color ?? COLOR,
    background_color: '#ffffff',
    icons: [
      ...logo,
      { src: assets.hrefOf('icon'), sizes: 'any', type: 'image/svg+xml' },
      png('icon192', 192),
      png('icon512', 512),
    ],
    share_target: {
      // Use POST, so that no shared content ends up in a URL.
      action: `${basePath}${PAGES.share.href()}`,
      method: 'POST',
      enctype: 'multipart/form-data',
      params: {
        title: SHARED.title,
        text: SHARED.text,
        url: SHARED.url,
        files: [{ name: SHARED.files, accept: ['*/*'] }],
      },
    },
  }
  return () =>
    answerAsset(JSON.stringify({ name: readName(), short_name: readName(), ...manifest }), {
      type: 'application/manifest+json',
      kept: 'revalidate',
    })
}
