// JSX as HTML: every value is escaped, and a page contains only texts, numbers and elements.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Children, oncePerLanguage } from '../../src/pages/frame/html.ts'
import { wordsOf } from '../../src/words/words.ts'

const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' autofocus onfocus='alert(1)",
  '</textarea></title></p><b>',
  '&lt;b&gt; &amp;amp; &#60;',
  '<!-- --> <![CDATA[ ]]> <?php',
  '\0<\ud800>\udc00"',
  'テキスト<b>🔑</b>',
]

function Frame({ label, children }: { label: string; children: Children }) {
  return <section aria-label={label}>{children}</section>
}

/** Renders the value in every position where a page can hold one. */
function everywhere(value: string) {
  const twice = (
    <>
      {value}, {value}
    </>
  )
  return (
    <Frame label={value}>
      <p title={value} data-value={value} {...{ lang: value }}>
        {value}
        {[value, [value]]}
        {twice}
      </p>
      <input value={value} />
      <textarea>{value}</textarea>
    </Frame>
  )
}

const PLACES = 11

function decode(html: string): string {
  const characters: Record<string, string> = {
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    '#x27': "'",
    '#39': "'",
  }
  return html.replace(/&([^;&]*);/g, (whole, name: string) => characters[name] ?? whole)
}

/** Reads the elements with a parser that shares no code with the renderer. */
function elementsIn(html: string): string[] {
  const found: string[] = []
  const note = ({ tagName, attributes }: HTMLRewriterTypes.Element) => {
    found.push([tagName, ...[...attributes].map(([name]) => name)].join(' '))
  }
  new HTMLRewriter().on('*', { element: note }).transform(html)
  return found
}

const OWN = ['section aria-label', 'p title data-value lang', 'input value', 'textarea']

test.each(HOSTILE)('%j is escaped everywhere', (value) => {
  const { text } = everywhere(value)
  expect(elementsIn(text)).toEqual(OWN)
  expect(decode(text).split(value)).toHaveLength(PLACES + 1)
})

test('any text is rendered exactly and cannot break out of an element or attribute', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (value) => {
      const { text } = <b title={value}>{value}</b>
      const [, title = '', content = ''] = /^<b title="([^"<>]*)">([^<>"]*)<\/b>$/.exec(text) ?? []
      return decode(title) === value && decode(content) === value
    }),
  )
})

test('an object that imitates an element is refused', () => {
  const forged: unknown[] = [
    { text: '<b>' },
    JSON.parse('{"text":"<b>","type":"b"}'),
    () => '<b>',
    Symbol('b'),
  ]
  for (const value of forged) {
    expect(() => <p>{value as Children}</p>).toThrow('A page can show only texts')
    expect(() => <p title={value as string} />).toThrow('The attribute title can be only')
  }
  const raw = { dangerouslySetInnerHTML: { __html: '<b>' } }
  expect(() => <p {...(raw as object)} />).toThrow('The attribute dangerouslySetInnerHTML can be only')
})

test('missing values render nothing, and true renders an attribute without a value', () => {
  expect(
    (
      <p>
        {null}
        {undefined}
        {false}
        {true}
        {0}
        {''}
      </p>
    ).text,
  ).toBe('<p>0</p>')
  expect((<input hidden disabled={false} value={undefined} tabIndex={-1} />).text).toBe(
    '<input hidden tabIndex="-1">',
  )
})

test('content that depends only on the language is rendered once per language', () => {
  const rendered: string[] = []
  const title = oncePerLanguage(({ language, say }) => {
    rendered.push(language)
    return <h1>{say('create_title')}</h1>
  })
  const [en, de] = [wordsOf('en'), wordsOf('de')]
  expect([title(en), title(de), title(en)].map(({ text }) => text)).toEqual([
    `<h1>${en.say('create_title')}</h1>`,
    `<h1>${de.say('create_title')}</h1>`,
    `<h1>${en.say('create_title')}</h1>`,
  ])
  expect(rendered).toEqual(['en', 'de'])
})
