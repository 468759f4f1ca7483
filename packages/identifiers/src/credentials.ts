/** Academic and professional titles behind a person's name. "do" is a name too, as in "Kim Do". */
export const credentials = ["md", "do", "dds", "dmd", "dpm", "dvm", "od", "phd", "esq", "cpa", "rn", "lpn", "np"];
