// The page with the API reference, whose scripts are embedded in the binary.

import { answerPage } from '../door/answers.ts'
import { API } from '../urls.ts'
import type { Assets } from './frame/assets.ts'
import { renderPage } from './frame/page.tsx'

/** Swagger UI needs data URLs for its icons, and style attributes. */
const POLICY =
  "form-action 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data:; connect-src 'self'"

export function createAnswerDocs({ hrefOf }: Assets, basePath: string) {
  return (): Response => {
    const reference = `${basePath}${API.reference.href()}`
    const html = renderPage(
      <html lang="en" data-reference={reference}>
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <title>Oncebox API</title>
          <link rel="stylesheet" href={hrefOf('swaggerStyle')} />
        </head>
        <body>
          <main id="reference">
            <noscript>
              This page needs JavaScript. The reference itself is at <a href={reference}>{reference}</a>.
            </noscript>
          </main>
          <script src={hrefOf('swaggerScript')} />
          <script src={hrefOf('docsStart')} />
        </body>
      </html>,
    )
    return answerPage(200, html, { policy: POLICY })
  }
}
