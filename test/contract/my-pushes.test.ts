// An owner's list on the pages: filters, order, search, opened pushes, and bulk actions.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Api, type PushBody, startApi, type Wire } from '../support/api.ts'
import { createPeople, type People, type Person } from '../support/people.ts'
import { waitUntil } from '../support/waiting.ts'

const DAY = 86_400_000

let api: Api
let people: People
let serial = 0
beforeAll(async () => {
  api = await startApi()
  people = createPeople(api)
})
afterAll(() => api.close())

type Owner = Person & { token: string; create: (push?: Wire) => Promise<PushBody> }

async function newOwner(): Promise<Owner> {
  serial += 1
  const email = `owner${serial}@example.org`
  const token = await api.addAccount(email)
  const person = await people.signIn(email)
  return { ...person, token, create: (push = {}) => api.create(push, { token }) }
}

/** Returns the names in the rows, in their order. */
function namesIn(text: string): string[] {
  return [...text.matchAll(/class="title"><bdi>([^<]*)</g)].map(([, name]) => name ?? '')
}

const list = async (owner: Owner, query = '') => {
  const { status, text } = await owner.get(`/pushes${query}`)
  expect(status).toBe(200)
  return { text, names: namesIn(text) }
}

const tokensIn = (text: string) =>
  [...text.matchAll(/name="push" value="(\w+)"/g)].map(([, token]) => token ?? '')

describe('the list', () => {
  test('a row shows the kind, the name, the views, the expiry and the last view', async () => {
    const owner = await newOwner()
    const { url_token } = await owner.create({ name: 'VPN', note: 'for Cleo', expire_after_days: 7 })
    await owner.create({ kind: 'qr' })
    await api.retrieve(url_token)
    api.clock.advance(3 * 60_000)
    const { text, names } = await list(owner)
    expect(names).toEqual([expect.stringMatching(/^QR code …\w{4}$/), 'VPN'])
    for (const shown of [
      'for Cleo',
      'Opened 1 of 5 times',
      '<i class="on"></i><i></i>',
      'last <time',
      '7 days left',
      '3 min. ago',
      'not opened yet',
    ])
      expect(text).toContain(shown)
    expect(text).toContain(`data-text="http://localhost/p/${url_token}/r"`)
  })

  test('a row shows the number and size of the files', async () => {
    const owner = await newOwner()
    await owner.create({ name: 'two', files: ['a', 'b'].map((filename) => ({ filename, data: 'eA==' })) })
    expect((await list(owner)).text).toContain('2 files · 2 bytes · created')
  })

  test.each<[string, RegExp, Wire, (push: PushBody) => unknown]>([
    ['how often it can be opened', /0 of 3.*not opened yet.*2 days left/s, {}, () => undefined],
    [
      'its last opening',
      /1 of 3.*last <time[^>]*>just now<.*2 days left/s,
      {},
      (push) => api.retrieve(push.url_token),
    ],
    [
      'that it is used up',
      /1 of 1.*last <time.*link used up/s,
      { expire_after_views: 1 },
      (push) => api.retrieve(push.url_token),
    ],
    ['that it expired', /0 of 3.*ended <time/s, {}, () => api.clock.advance(2 * DAY)],
    ['that it was revoked', /0 of 3.*Revoked or deleted/s, {}, (push) => api.expire(push.url_token)],
  ])('a row begins with its openings and %s', async (_name, text, fields, happens) => {
    const owner = await newOwner()
    await happens(await owner.create({ name: 'VPN', expire_after_days: 2, expire_after_views: 3, ...fields }))
    const { text: page } = await list(owner, '?show=all')
    const [, row = ''] = /<li.*?class="check"(.*?)<\/li>/s.exec(page) ?? []
    expect(row.indexOf('class="openings"')).toBeWithin(0, row.indexOf('class="title"'))
    expect(row).toMatch(text)
  })

  test('up to ten openings are dots, more are a bar, and both are read as a sentence', async () => {
    const owner = await newOwner()
    for (const expire_after_views of [10, 11]) await owner.create({ expire_after_views })
    const { text } = await list(owner)
    expect(text.match(/<i><\/i>/g)).toHaveLength(10)
    expect(text).toContain('<progress max="11" value="0" aria-hidden="true">')
    for (const n of [10, 11])
      expect(text).toContain(`<span class="visually-hidden">Opened 0 of ${n} times</span>`)
  })

  test('rows are grouped by the day of their creation, unless sorted otherwise', async () => {
    const owner = await newOwner()
    await owner.create({ name: 'first', expire_after_days: 90 })
    api.clock.advance(2 * DAY)
    for (const name of ['second', 'third']) await owner.create({ name, expire_after_days: 90 })
    api.clock.advance(DAY)
    await owner.create({ name: 'fourth' })
    const daysIn = (text: string) => [...text.matchAll(/<h2>([^<]+)<\/h2><ul>/g)].map(([, day]) => day)
    const { text, names } = await list(owner)
    expect(names).toEqual(['fourth', 'third', 'second', 'first'])
    expect(daysIn(text)).toEqual(['today', 'yesterday', expect.stringMatching(/^\d+ \w+ \d{4}$/)])
    expect(text).toMatch(/yesterday.*third.*second.*<h2>.*first/s)
    expect(daysIn((await list(owner, '?sort=oldest')).text)).toHaveLength(3)
    expect(daysIn((await list(owner, '?locale=de')).text)[0]).toBe('heute')
    for (const sort of ['name', 'ending', 'opened'])
      expect(daysIn((await list(owner, `?sort=${sort}`)).text)).toEqual([])
  })

  test('the mark of an opened push disappears when its owner opens the page, or removes the mark', async () => {
    const owner = await newOwner()
    const pushes = [await owner.create({ name: 'one' }), await owner.create({ name: 'two' })]
    for (const { url_token } of pushes) await api.retrieve(url_token)
    const isNew = async () => (await list(owner, '?state=unseen')).names
    expect(await isNew()).toEqual(['two', 'one'])
    expect(await isNew()).toEqual(['two', 'one'])
    await owner.get(`/pushes/${pushes[0]?.url_token}`)
    expect(await isNew()).toEqual(['two'])
    const marked = await owner.post('/pushes', { push: pushes[1]?.url_token ?? '', do: 'seen' })
    expect(marked.status).toBe(303)
    expect(await isNew()).toEqual([])
    await api.retrieve(pushes[0]?.url_token ?? '')
    expect(await isNew()).toEqual(['one'])
  })

  test('each push is under one tab; an ended one is new until its owner has looked at it', async () => {
    const owner = await newOwner()
    const { url_token } = await owner.create({ name: 'VPN', expire_after_views: 1 })
    await owner.create({ name: 'waiting' })
    const revoked = await owner.create({ name: 'revoked' })
    await owner.post(`/pushes/${revoked.url_token}/expire`, {})
    await api.retrieve(url_token)
    api.clock.advance(3 * 60_000)
    const tabs = async () => {
      const { text } = await list(owner)
      return [...text.matchAll(/(Active|New|Ended) <span class="count">(\d+)</g)].map(
        ([, tab, n]) => `${tab} ${n}`,
      )
    }
    expect(await tabs()).toEqual(['Active 1', 'New 1', 'Ended 1'])
    expect((await list(owner)).names).toEqual(['waiting'])
    const fresh = await list(owner, '?show=new')
    expect(fresh.names).toEqual(['VPN'])
    expect(fresh.text).toContain('<span class="chip good">New</span>')
    expect((await list(owner, '?show=new&sort=name')).names).toEqual(['VPN'])
    expect((await list(owner, '?show=new&kind=url')).names).toEqual([])
    // In the API an ended answer counts as expired.
    expect((await api.list('active', owner.token)).map(({ name }) => name)).toEqual(['waiting'])
    expect((await api.list('expired', owner.token)).map(({ name }) => name)).toEqual(['revoked', 'VPN'])
    const { text: page } = await owner.get(`/pushes/${url_token}`)
    expect(page).toMatch(/class="standing good".*Opened <time [^>]*>3 min. ago<\/time>, link used up/s)
    expect(await tabs()).toEqual(['Active 1', 'New 0', 'Ended 2'])
    expect((await list(owner, '?show=new')).text).toContain('Nothing is new.')
    expect((await list(owner, '?show=expired')).names).toEqual(['revoked', 'VPN'])
  })

  test('every page shows in the menu how many were opened since the owner last looked, up to nine', async () => {
    const owner = await newOwner()
    const unseenOn = async (path: string) => {
      const counts = [...(await owner.get(path)).text.matchAll(/last looked: <\/span><bdi>([^<]+)</g)]
      return counts.map(([, count]) => count)
    }
    const pushes: PushBody[] = []
    for (let n = 0; n < 11; n += 1) pushes.push(await owner.create({ expire_after_views: 1 + (n % 2) }))
    const [used, live] = pushes.map(({ url_token }) => url_token)
    expect(await unseenOn('/')).toEqual([])
    await api.retrieve(used ?? '')
    await api.retrieve(live ?? '')
    // The number is shown three times: in the line of wide windows, and on phones at the menu button and in
    // the menu.
    for (const path of ['/', '/pushes', '/account', `/pushes/${pushes[2]?.url_token}`])
      expect({ path, unseen: await unseenOn(path) }).toEqual({ path, unseen: ['2', '2', '2'] })
    expect(await unseenOn(`/pushes/${used}`)).toEqual(['1', '1', '1'])
    expect(await unseenOn('/')).toEqual(['1', '1', '1'])
    for (const { url_token } of pushes) await api.retrieve(url_token)
    expect((await unseenOn('/'))[0]).toBe('9+')
    expect((await (await newOwner()).get('/')).text).not.toContain('last looked')
  })

  test('polling the list does not extend a session; any other request does, whatever its headers', async () => {
    const look = { headers: { 'oncebox-look': '1' } }
    const isSignedIn = async (owner: Owner) => (await owner.get('/pushes', look)).status === 200
    const used = [await newOwner(), await newOwner(), await newOwner()] as const
    const looked = await newOwner()
    api.clock.advance(6 * DAY)
    expect((await looked.get('/pushes?q=vpn', look)).status).toBe(200)
    await used[0].get('/pushes')
    await used[1].get('/account', look)
    await used[2].post('/pushes', { push: 'x', do: 'seen' }, look)
    api.clock.advance(2 * DAY)
    // Uses are recorded concurrently with the answer.
    for (const owner of used) await waitUntil(() => isSignedIn(owner))
    expect(await isSignedIn(looked)).toBe(false)
  })

  test('each push is on exactly one page of a list, even if it was opened meanwhile', async () => {
    const owner = await newOwner()
    const names: string[] = []
    for (let n = 0; n < 60; n += 1) {
      const { url_token } = await owner.create({ name: `n${n}`, expire_after_views: 1 })
      if (n < 10 || n % 7 === 0 || n > 55) await api.retrieve(url_token)
      if (n % 2 === 0) await owner.get(`/pushes/${url_token}`)
      names.unshift(`n${n}`)
    }
    const shown: string[] = []
    for (const show of ['active', 'new', 'expired'])
      for (const page of [1, 2, 3, 4]) shown.push(...(await list(owner, `?show=${show}&page=${page}`)).names)
    expect(shown.toSorted()).toEqual(names.toSorted())
  })

  test('an empty list explains itself with an inert example and one button', async () => {
    const owner = await newOwner()
    const { text } = await list(owner)
    expect(text).toContain('Nothing here yet')
    expect(text).toMatch(/<div class="list" inert>.*1 of 5.*last <time[^>]*>3 min. ago.*Wi-Fi for Ana/s)
    expect(text.match(/class="button[^"]*" href="\/"/g)).toHaveLength(1)
    const { url_token } = await owner.create()
    await api.expire(url_token, { token: owner.token })
    expect((await list(owner)).text).not.toContain('inert')
  })
})

describe('filters, order and search', () => {
  let owner: Owner
  beforeAll(async () => {
    owner = await newOwner()
    const made = [
      await owner.create({ name: 'Zoë', note: 'a note', expire_after_days: 2 }),
      await owner.create({
        kind: 'url',
        payload: 'https://example.org/',
        name: 'anchor',
        expire_after_days: 90,
      }),
      await owner.create({ name: 'Çelik', note: 'RÉSUMÉ of Bo', expire_after_views: 2 }),
      await owner.create({ name: 'gone celik', expire_after_views: 1 }),
    ]
    api.clock.advance(60_000)
    await api.retrieve(made[0]?.url_token ?? '')
    api.clock.advance(60_000)
    for (const push of [made[2], made[3]]) await api.retrieve(push?.url_token ?? '')
    await owner.post('/pushes', { push: made[3]?.url_token ?? '', do: 'seen' })
    api.clock.advance(DAY + 1)
  })

  test.each([
    ['', ['Çelik', 'anchor', 'Zoë']],
    ['?show=expired', ['gone celik']],
    ['?show=all', ['gone celik', 'Çelik', 'anchor', 'Zoë']],
    ['?sort=oldest', ['Zoë', 'anchor', 'Çelik']],
    ['?sort=name', ['anchor', 'Çelik', 'Zoë']],
    ['?sort=ending', ['Zoë', 'Çelik', 'anchor']],
    ['?sort=opened', ['Çelik', 'Zoë', 'anchor']],
    ['?sort=ending&show=all', ['Zoë', 'Çelik', 'anchor', 'gone celik']],
    ['?kind=url', ['anchor']],
    ['?kind=file', []],
    ['?state=waiting', ['anchor']],
    ['?state=opened', ['Çelik', 'Zoë']],
    ['?state=opened&show=all', ['gone celik', 'Çelik', 'Zoë']],
    ['?state=ending', ['Çelik', 'Zoë']],
    ['?q=celik', ['gone celik', 'Çelik']],
    ['?q=celik&show=active', ['Çelik']],
    ['?q=RESUME+bo', ['Çelik']],
    ['?q=celik+bo&kind=text&state=opened', ['Çelik']],
    ['?q=nowhere', []],
    ['?kind=nonsense&sort=up&state=odd&show=some', ['Çelik', 'anchor', 'Zoë']],
  ])('%s', async (query, names) => {
    expect((await list(owner, query)).names).toEqual(names)
  })

  test('a list shows the number of pushes, and keeps the filters in its links', async () => {
    const { text } = await list(owner, '?q=celik&kind=text')
    expect(text).toContain('2 secrets')
    expect(text).toContain('href="/pushes?show=expired&amp;q=celik&amp;kind=text"')
    expect(text).toContain('Active <span class="count">3</span>')
    expect(text).not.toContain('aria-current="page">Active')
  })

  test('a search finds a new name at once, and the old one no longer', async () => {
    const { url_token } = await owner.create({ name: 'before the edit' })
    expect((await list(owner, '?q=edit')).names).toEqual(['before the edit'])
    const edited = await owner.post(`/pushes/${url_token}/edit`, { name: 'afterwards', note: '' })
    expect(edited.status).toBe(303)
    expect((await list(owner, '?q=edit')).names).toEqual([])
    expect((await list(owner, '?q=afterwards')).names).toEqual(['afterwards'])
  })
})

test('later pages do not shift while pushes are created', async () => {
  const owner = await newOwner()
  for (let n = 0; n < 60; n += 1) await owner.create({ name: `n${n}` })
  for (const query of ['', '?kind=text']) {
    const first = await list(owner, query)
    expect(first.names).toHaveLength(25)
    expect(first.text).toContain('1 to 25 of')
    const [, next = ''] = /href="([^"]+)" rel="next"/.exec(first.text) ?? []
    const before = await owner.get(next.replaceAll('&amp;', '&'))
    api.clock.advance(1000)
    await owner.create({ name: 'newer' })
    const after = await owner.get(next.replaceAll('&amp;', '&'))
    expect(namesIn(after.text)).toEqual(namesIn(before.text))
    expect(namesIn(after.text)[0]).not.toBe(first.names.at(-1))
  }
  expect((await list(owner, '?page=99')).text).toContain('There is nothing on this page.')
})

describe('bulk actions', () => {
  /** Sends the ticked boxes as a browser does. */
  const send = (owner: Owner, urlTokens: string[], fields: Record<string, string>) => {
    const body = new URLSearchParams({ form: owner.form, ...fields })
    for (const token of urlTokens) body.append('push', token)
    return owner.get('/pushes', {
      method: 'POST',
      body: body.toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: 'http://localhost' },
    })
  }

  test('ask for confirmation, with number and names, before pushes expire', async () => {
    const owner = await newOwner()
    const made = [await owner.create({ name: 'VPN' }), await owner.create({ name: 'Router' })]
    const [a = '', b = ''] = made.map(({ url_token }) => url_token)
    const asked = await send(owner, [a, b, a], { do: 'expire', list: 'kind=text' })
    expect(asked.status).toBe(200)
    expect(asked.text).toContain('<h1>Revoke 2 secrets</h1>')
    expect(asked.text).toContain('Their links stop working at once, for everyone.')
    expect(asked.text).toMatch(/<bdi>VPN<\/bdi>.*<bdi>Router<\/bdi>/s)
    expect(asked.text).toContain('<a href="/pushes?kind=text">Cancel</a>')
    const one = await send(owner, [a], { only: b })
    expect(one.text).toContain('<h1>Revoke 1 secret</h1>')
    expect(one.text).toContain('Its link stops working at once')
    expect(await api.list('active', owner.token)).toHaveLength(2)
    const fields = Object.fromEntries(
      [...one.text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [
        name,
        value ?? '',
      ]),
    )
    expect((await owner.post('/pushes', fields)).status).toBe(303)
    expect((await api.list('active', owner.token)).map(({ url_token }) => url_token)).toEqual([a])
  })

  test('expire pushes together, and return to the same list', async () => {
    const owner = await newOwner()
    const made = [
      await owner.create({ name: 'a' }),
      await owner.create({ name: 'b' }),
      await owner.create({ name: 'c' }),
    ]
    const [a = '', b = ''] = made.map(({ url_token }) => url_token)
    const answer = await send(owner, [a, b, a], { do: 'expire', sure: 'yes', list: 'kind=text&sort=name' })
    expect(answer.status).toBe(303)
    const back = answer.headers.get('location') ?? ''
    expect(back).toStartWith('/pushes?kind=text&sort=name&')
    const shown = await owner.get(back)
    expect(shown.text).toContain('2 secrets are revoked.')
    expect(namesIn(shown.text)).toEqual(['c'])
    expect((await api.retrieve(a)).body).toMatchObject({ expired: true, deleted: true, payload: null })
    expect((await api.audit(b, owner.token)).map(({ kind }) => kind)).toEqual(['creation', 'expire'])
  })

  test('the menu of a row expires only that push, whatever is selected', async () => {
    const owner = await newOwner()
    const [a, b] = [await owner.create(), await owner.create()]
    await send(owner, [a.url_token], { only: b.url_token, sure: 'yes' })
    expect((await api.list('active', owner.token)).map(({ url_token }) => url_token)).toEqual([a.url_token])
  })

  test('with nothing selected the form says so, and changes nothing', async () => {
    const owner = await newOwner()
    await owner.create()
    const answer = await send(owner, [], { do: 'expire' })
    expect((await owner.get(answer.headers.get('location') ?? '')).text).toContain(
      'Select some secrets first.',
    )
    expect(await api.list('active', owner.token)).toHaveLength(1)
  })

  test('ignore pushes of other accounts, and require the form token', async () => {
    const [owner, other] = [await newOwner(), await newOwner()]
    const { url_token } = await other.create({ deletable_by_viewer: true })
    const open = (await api.create({ deletable_by_viewer: true })).url_token
    const answer = await send(owner, [url_token, open, '0123456789abcdefghjkmnpqrs', "'"], { do: 'expire' })
    expect(answer.headers.get('location')).toContain('n=0')
    const sure = await send(owner, [url_token, open], { do: 'expire', sure: 'yes' })
    expect(sure.headers.get('location')).toContain('n=0')
    await send(owner, [url_token], { do: 'seen' })
    expect((await send(other, [url_token], { do: 'expire', form: 'forged' })).status).toBe(403)
    expect(
      (await people.post('/pushes', { push: url_token, do: 'expire' })).headers.get('location'),
    ).toStartWith('/sign-in')
    for (const token of [url_token, open]) expect((await api.retrieve(token)).body.expired).toBe(false)
  })

  test('the list never shows a push of another account', async () => {
    const [owner, other] = [await newOwner(), await newOwner()]
    await other.create({ name: 'theirs' })
    const { url_token } = await owner.create({ name: 'mine' })
    for (const query of ['', '?show=all', '?q=theirs', '?q=mine', '?sort=name'])
      expect(tokensIn((await list(owner, query)).text).filter((token) => token !== url_token)).toEqual([])
  })
})

describe('share again', () => {
  test('fills in the settings of an own push, but not its content', async () => {
    const owner = await newOwner()
    const { url_token } = await owner.create({
      ...{ payload: 'the old secret', passphrase: 'sesame', name: 'VPN', note: 'for Cleo' },
      ...{ kind: 'qr', expire_after_days: 3, expire_after_views: 17, retrieval_step: false },
    })
    expect((await list(owner)).text).toContain(`href="/?like=${url_token}"`)
    const { text } = await owner.get(`/?like=${url_token}`)
    expect(text).toContain('Filled in with the settings of “VPN”')
    expect(text).toContain('That secret had a passphrase')
    expect(text).toMatch(/name="push\[kind\]" value="qr" checked/)
    expect(text).toContain('value="17"')
    expect(text).toContain('value="VPN"')
    expect(text).toContain('for Cleo')
    expect(text).not.toContain('the old secret')
    expect(text).not.toContain('sesame')
    await api.expire(url_token, { token: owner.token })
    expect((await owner.get(`/?like=${url_token}`)).text).toContain('settings of “VPN”')
  })

  test('shows an empty form for a push of another account', async () => {
    const [owner, other] = [await newOwner(), await newOwner()]
    const { url_token } = await other.create({ name: 'theirs' })
    for (const token of [url_token, 'nonsense', '']) {
      const { status, text } = await owner.get(`/?like=${token}`)
      expect({ status, isPlain: !text.includes('settings of') && !text.includes('theirs') }).toEqual({
        status: 200,
        isPlain: true,
      })
    }
    expect((await people.get(`/?like=${url_token}`)).text).not.toContain('theirs')
  })
})
