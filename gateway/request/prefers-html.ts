/**
 * Whether an Accept header names HTML: tools that accept anything, or name JSON or a stream, get the API.
 */
export function prefersHtml(accept = ''): boolean {
  return (
    /(^|,)\s*text\/html\b/i.test(accept) &&
    !/event-stream|application\/(graphql-response\+)?json/i.test(accept)
  );
}
