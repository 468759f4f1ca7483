/** Confidence from which the match of a fuzzy look-up is certain, 0–1. A less certain one needs a person. */
export const CERTAIN_CONFIDENCE = 0.95;
