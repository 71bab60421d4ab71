/** Long enough for the browser to begin with it. */
const KEPT_MS = 60_000;

/** Has the browser save what this page holds under a name. */
export function saveAs(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  saveAddress(address, name);
  setTimeout(() => URL.revokeObjectURL(address), KEPT_MS);
}

/** Has the browser save what is at an address. */
export function saveAddress(address: string, name: string): void {
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
}
