// Files that the bundler embeds: as text, or as a path to their bytes.

declare module '*.sql' {
  const text: string
  export default text
}

declare module '*.css' {
  const text: string
  export default text
}

declare module '*.svg' {
  const text: string
  export default text
}

declare module '*.png' {
  const path: string
  export default path
}

declare module '*.ico' {
  const path: string
  export default path
}

declare module '*.template' {
  const text: string
  export default text
}

declare module '*.txt' {
  const textOrPath: string
  export default textOrPath
}
