// Texts of the reference, in which blank lines separate paragraphs and backquotes mark code.

/** One paragraph for each part between blank lines. */
export function Prose({ text }: { text: string }) {
  return (
    <>
      {text.split(/\n{2,}/).map((paragraph) => (
        <p>{paragraph.split('`').map((part, at) => (at % 2 === 0 ? part : <code>{part}</code>))}</p>
      ))}
    </>
  )
}
