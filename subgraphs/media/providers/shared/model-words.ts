/** Words by which vendors and servers before them say that a model is not to be had, where they have no code for it. */
const WORDS: readonly RegExp[] = [
  /\bmodel\b.{0,200}(does not exist|not found|has been (deprecated|retired|decommissioned|removed|shut ?down))/is,
  /\bmodel\b.{0,200}\bis (deprecated|retired|decommissioned|no longer (available|supported))/is,
  /(does not have|not allowed to|no) access (to )?(the )?model/i,
  /must be verified to use the model/i,
  /(unknown|invalid|no such) model\b|invalid model name|not a valid model/i,
  /no endpoints found for|you passed in model=|plan (does )?not support model/i,
  /endpoint ?(is )?(deprecated|no longer supported)/i,
];

/** What a 404 may be about besides the model: something else that the request names, or an address that is not the vendor's. */
const OTHERS =
  /\b(files?|uploads?|assets?|voices?|cached ?contents?|documents?|urls?|routes?|projects?|organi[sz]ations?)\b/i;

/** Whether a 404 of a start whose path names the model is about this: in the vendor's own JSON, and about nothing else. */
export function isMissingModel(json: unknown, message: string): boolean {
  return typeof json === 'object' && json !== null && !OTHERS.test(message);
}

/** Whether a refusal says that the model is not there, has ended, or is not for this key. */
export function isAboutModel(message: string): boolean {
  return WORDS.some((words) => words.test(message));
}
