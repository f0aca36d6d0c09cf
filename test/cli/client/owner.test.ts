// The commands for the pushes of an account: list, audit, expire, edit.

import { describe, expect, test } from 'bun:test'
import { useClients } from './clients.ts'

const { tryOut, signedIn, push, get, place } = useClients()

describe('an owner', () => {
  test('lists, audits and expires', async () => {
    const link = await push(signedIn({ input: 'x' }), '--name', 'to \u001b[31mBob')
    await get(link)
    const list = signedIn()
    expect(await list.run('list')).toBe(0)
    expect(list.out.join('\n')).toContain(`\tto ␛[31mBob\t4 views, 7 days\t${link}`)
    const audit = signedIn()
    expect(await audit.run('audit', link)).toBe(0)
    expect(audit.out).toHaveLength(3)
    expect(audit.out[2]).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d\tview\t127\.0\.0\.1\t-\toncebox\/\d/)
    const expire = signedIn()
    expect(await expire.run('expire', link)).toBe(0)
    expect(expire.out[0]).toMatch(/^Expired on .*; it can no longer be opened\.$/)
    const again = signedIn()
    expect(await again.run('expire', link)).toBe(0)
    const expired = signedIn()
    expect(await expired.run('list', '--expired', '--json')).toBe(0)
    expect(JSON.parse(expired.out.join(''))[0]).toMatchObject({ html_url: link, deleted: true })
  })

  test('lists the time left in days, hours or minutes', async () => {
    for (const duration of ['45m', '1h', '2d']) await push(signedIn({ input: 'x' }), '--duration', duration)
    const leftAt = async (now: number) => {
      const list = signedIn({ now })
      expect(await list.run('list')).toBe(0)
      return list.out.slice(1, 4).map((line) => line.split('\t')[3])
    }
    expect(await leftAt(place.server.clock.now())).toEqual([
      '5 views, 2 days',
      '5 views, 1 hour',
      '5 views, 45 minutes',
    ])
    // If the client's clock is a year behind, only the server's count of days is known.
    expect(await leftAt(0)).toEqual(['5 views, 2 days', '5 views, 1 day', '5 views, 1 day'])
  })

  test('edits a name, a note and limits; refusals name the flags', async () => {
    const link = await push(signedIn({ input: 'x' }), '--name', 'before', '--note', 'gone soon')
    const edit = signedIn()
    expect(await edit.run('edit', link, '--name', 'after', '--note', '', '--days', '2', '--views', '1')).toBe(
      0,
    )
    expect(edit.out[0]).toMatch(/^Changed\. It expires after 1 more view or on .*, whichever comes first\.$/)
    const longer = signedIn()
    expect(await longer.run('edit', link, '--duration', '7d', '--views', '2')).toBe(1)
    expect(longer.err.join('')).toMatch(
      /--duration would let the push live longer\. --views must be between 1 and 1\./,
    )
    const again = signedIn()
    expect(await again.run('edit', link, '--name', 'after', '--json')).toBe(0)
    expect(JSON.parse(again.out.join(''))).toMatchObject({ name: 'after', note: '', expire_after_days: 2 })
    const audit = signedIn()
    await audit.run('audit', link)
    expect(audit.out.filter((line) => /\sedit\s/.test(line))).toHaveLength(1)
    expect(await tryOut().run('edit', link, '--name', 'x')).toBe(4)
  })

  test('needs a login, and sees only their own pushes', async () => {
    const trial = tryOut()
    expect(await trial.run('list')).toBe(4)
    const other = await place.server.addAccount('bob@example.org')
    const link = await push(signedIn({ input: 'x' }))
    const stranger = tryOut({ env: { ONCEBOX_TOKEN: other } })
    expect(await stranger.run('audit', link)).toBe(4)
  })
})
