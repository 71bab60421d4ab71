/** A multipart body with its content type, encoded by Node. */
export async function encodeForm(
  form: FormData,
): Promise<{ readonly bytes: Uint8Array; readonly headers: Record<string, string> }> {
  const encoded = new Response(form);
  return {
    bytes: new Uint8Array(await encoded.arrayBuffer()),
    headers: { 'content-type': encoded.headers.get('content-type') ?? 'multipart/form-data' },
  };
}
