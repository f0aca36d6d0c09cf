// The page of a secret link: what it shows, counts and refuses.

import { describe, expect, test } from 'bun:test'
import { nonceOf, pathOf, usePages } from './pages.ts'

const pages = usePages()
const { fetchPage, send, signIn } = pages

describe('a secret link', () => {
  test('shows the same page for an expired push and for an unknown one', async () => {
    const { url_token, html_url } = await pages.api.create()
    await pages.api.expire(url_token)
    const [expired, unknown, malformed] = await Promise.all(
      [pathOf(html_url), '/p/0123456789abcdefghjkmnpqrs', '/p/whatever'].map((path) => fetchPage(path)),
    )
    const withoutPath = (text = '') => text.replaceAll(/action="[^"]*"/g, '')
    expect(expired?.status).toBe(404)
    expect(unknown?.status).toBe(404)
    expect(withoutPath(expired?.text)).toBe(withoutPath(unknown?.text))
    expect(withoutPath(malformed?.text)).toBe(withoutPath(unknown?.text))
    const pressed = await Promise.all(
      [pathOf(html_url), '/p/0123456789abcdefghjkmnpqrs'].map((path) => send(path, { nonce: 'x' })),
    )
    expect(pressed.map(({ status }) => status)).toEqual([404, 404])
  })

  test('never sets a cookie', async () => {
    const { html_url } = await pages.api.create({ passphrase: 'sesame' })
    const path = `${pathOf(html_url)}?locale=de`
    const shown = await fetchPage(path)
    const wrong = await send(path, { nonce: nonceOf(shown.text), passphrase: 'x' })
    const right = await send(path, { nonce: nonceOf(wrong.text), passphrase: 'sesame' })
    for (const { headers, text } of [shown, wrong, right]) {
      expect(headers.get('set-cookie')).toBeNull()
      expect(text).toContain('<html lang="de"')
    }
    expect(right.text).toContain('correct horse')
  })

  test('a URL longer than servers accept is shown as text, not as a link', async () => {
    const reveal = async (characters: number) => {
      const payload = 'https://example.org/'.padEnd(characters, 'x')
      const { html_url } = await pages.api.create({ kind: 'url', payload })
      const path = pathOf(html_url)
      return (await send(path, { nonce: nonceOf((await fetchPage(path)).text) })).text
    }
    expect(await reveal(32 * 1024)).toContain('href="https://example.org/xxx')
    const long = await reveal(32 * 1024 + 1)
    expect(long).not.toContain('href="https://example.org')
    expect(long).toContain('https://example.org/xxx')
  })

  test('a nonce opens its own push once, even after a restart', async () => {
    const { html_url, url_token } = await pages.api.create({ expire_after_views: 3 })
    const other = await pages.api.create()
    const { text } = await fetchPage(pathOf(html_url))
    const nonce = nonceOf(text)
    expect((await send(pathOf(other.html_url), { nonce })).status).toBe(409)
    expect(
      (await send(pathOf(html_url), { nonce: `${nonce.startsWith('A') ? 'B' : 'A'}${nonce.slice(1)}` }))
        .status,
    ).toBe(409)
    expect((await send(pathOf(html_url), { nonce })).text).toContain('correct horse')
    const again = await send(pathOf(html_url), { nonce })
    expect(again.status).toBe(409)
    expect(again.text).not.toContain('correct horse')
    const fresh = nonceOf(again.text)
    await pages.api.restart()
    expect((await send(pathOf(html_url), { nonce: fresh })).text).toContain('correct horse')
    expect((await send(pathOf(html_url), { nonce: fresh })).status).toBe(409)
    expect((await pages.api.retrieve(url_token)).body.views_remaining).toBe(0)
  })

  test('concurrent presses on one page count one view; on several pages, exactly as many as remain', async () => {
    const { html_url } = await pages.api.create({ expire_after_views: 5 })
    const path = pathOf(html_url)
    const one = nonceOf((await fetchPage(path)).text)
    const twice = await Promise.all(Array.from({ length: 10 }, () => send(path, { nonce: one })))
    expect(twice.filter(({ text }) => text.includes('correct horse'))).toHaveLength(1)
    const shown = await Promise.all(Array.from({ length: 30 }, () => fetchPage(path)))
    const opened = await Promise.all(shown.map(({ text }) => send(path, { nonce: nonceOf(text) })))
    expect(opened.filter(({ text }) => text.includes('correct horse'))).toHaveLength(4)
    expect(opened.filter(({ status }) => status === 404)).toHaveLength(26)
  })

  test('hostile payloads and file names are escaped', async () => {
    const token = await pages.api.addAccount(`mallory-${Math.floor(pages.api.clock.now())}@example.org`)
    const payload = '</pre><script>alert(1)</script>'
    const files = [{ filename: '"><img src=x onerror=alert(1)>.txt', data: 'eA==' }]
    const { html_url } = await pages.api.create({ payload, files, kind: 'text' }, { token })
    const { text } = await fetchPage(pathOf(html_url))
    const opened = await send(pathOf(html_url), { nonce: nonceOf(text) })
    expect(opened.text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    expect(opened.text).not.toContain('<script>alert')
    expect(opened.text).not.toContain('<img')
  })

  test('only http and https URLs become links', async () => {
    const { html_url } = await pages.api.create({ kind: 'url', payload: 'HTTPS://EXAMPLE.org/"onclick="x' })
    const { text } = await fetchPage(pathOf(html_url))
    const opened = await send(pathOf(html_url), { nonce: nonceOf(text) })
    expect(opened.text).toContain('href="HTTPS://EXAMPLE.org/&quot;onclick=&quot;x"')
  })

  test.each([
    ['https://İİİİİİİİİİ@evil.example/bank.example/', 'evil.example'],
    ['https://evil.example@EVIL.example/@evil.example', 'EVIL.example'],
  ])('emphasizes the host of %p to which the browser goes', async (payload, host) => {
    const { html_url } = await pages.api.create({ kind: 'url', payload })
    const { text } = await fetchPage(pathOf(html_url))
    const opened = await send(pathOf(html_url), { nonce: nonceOf(text) })
    expect(opened.text).toContain(`@<strong>${host}</strong>/`)
  })

  test('can be expired only from a page of this server by an authorized viewer', async () => {
    const { html_url, url_token } = await pages.api.create()
    const shown = await fetchPage(pathOf(html_url))
    const opened = await send(pathOf(html_url), { nonce: nonceOf(shown.text) })
    const expire = `/p/${url_token}/expire`
    expect((await send(expire, { nonce: '' })).status).toBe(409)
    // The nonce of the reveal form is not that of the expire form.
    const other = await fetchPage(pathOf(html_url))
    expect((await send(expire, { nonce: nonceOf(other.text) })).status).toBe(409)
    expect((await send(expire, { nonce: nonceOf(opened.text, 'expire') })).status).toBe(200)
    expect((await fetchPage(pathOf(html_url))).status).toBe(404)

    const kept = await pages.api.create({ deletable_by_viewer: false })
    const preview = await fetchPage(`/p/${kept.url_token}/preview`)
    expect(preview.text).not.toContain('/expire"')
    expect(preview.headers.get('content-type')).toContain('text/html')
  })

  test.each(['viewer', 'owner'])('with files lets its %s end the downloads of the last view', async (who) => {
    const email = `files-of-${who}@example.org`
    const token = await pages.api.addAccount(email)
    const { cookie, form } = await signIn(email)
    const headers = { cookie }
    const files = [{ filename: 'a.txt', data: 'aGVsbG8=' }]
    const { html_url, url_token } = await pages.api.create({ files, expire_after_views: 1 }, { token })
    const { text } = await fetchPage(pathOf(html_url))
    const opened = await send(pathOf(html_url), { nonce: nonceOf(text) })
    const grant = /\/d\/[\w-]+/.exec(opened.text)?.[0] ?? ''
    expect((await pages.api.fetch(grant)).status).toBe(200)
    const shown = who === 'viewer' ? opened : await fetchPage(`/pushes/${url_token}`, { headers })
    const ends = who === 'viewer' ? 'I have saved it, destroy it now' : 'Delete the files now, for good'
    expect(shown.text).toContain(ends)
    const nonce = nonceOf(shown.text, 'expire')
    const ended =
      who === 'viewer'
        ? await send(`/p/${url_token}/expire`, { nonce })
        : await send(`/pushes/${url_token}/expire`, { nonce, form }, { headers })
    expect(ended.status).toBe(who === 'viewer' ? 200 : 303)
    expect((await pages.api.retrieve(url_token)).body).toMatchObject({ deleted: true })
    expect((await pages.api.fetch(grant)).status).toBe(404)
    expect((await fetchPage(`/pushes/${url_token}`, { headers })).text).not.toContain('/expire"')
  })
})
