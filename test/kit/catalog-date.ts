/** The day that tests go by: models end, and tests hold next year too. */
export const CATALOG_DATE = '2026-09-01';
