/** Whether the server has another build of the console than this page is of: its files may be gone. */
export async function isOldBuild(): Promise<boolean> {
  try {
    const answer = await fetch(document.baseURI, { cache: 'no-store' });
    if (!answer.ok) return false;
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const served = readEntry(page);
    return served !== undefined && served !== readEntry(document);
  } catch {
    return false;
  }
}

/** The file name of a page's own script, which has the hash of what it holds. */
function readEntry(page: Document): string | undefined {
  const address = page.querySelector('script[type=module][src]')?.getAttribute('src');
  return address?.split('/').at(-1);
}
