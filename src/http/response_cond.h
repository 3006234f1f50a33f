/*
 * answercond: which part of a file, if any, answers a GET or HEAD with
 * conditions and ranges; as httpd's ap_meets_conditions and its byterange
 * filter decide. Internal to answer.
 */
#ifndef CPUAFFINITY_RESPONSE_COND_H
#define CPUAFFINITY_RESPONSE_COND_H

#include "http/response.h"

typedef enum answercond_result {
    ANSWERCOND_WHOLE,     /* 200 */
    ANSWERCOND_PART,      /* 206, one range */
    ANSWERCOND_UNCHANGED, /* 304 */
    ANSWERCOND_DECLINE    /* httpd's: several ranges, 416, odd syntax */
} answercond_result;

/* The fields that this file judges. */
#define ANSWERCOND_FIELDS                                                      \
    ((uint64_t)1 << REQUEST_RANGE | (uint64_t)1 << REQUEST_IF_RANGE            \
     | (uint64_t)1 << REQUEST_IF_NONE_MATCH                                    \
     | (uint64_t)1 << REQUEST_IF_MODIFIED_SINCE)

/*
 * @param now seconds since 1970 when the request came
 * @param first, last set for ANSWERCOND_PART: offsets, both inclusive
 */
answercond_result answercond_judge(const answer *a, const request *req,
                                   const char *head, int64_t now,
                                   int64_t *first, int64_t *last);

#endif
