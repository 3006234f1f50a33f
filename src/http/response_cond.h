/* SPDX-License-Identifier: Apache-2.0 */
/*
 * response_cond: which part of a file, if any, answers a GET or HEAD with
 * conditions and ranges, decided as httpd's ap_meets_conditions and its
 * byterange filter do. Internal to response.
 */
#ifndef CPUAFFINITY_RESPONSE_COND_H
#define CPUAFFINITY_RESPONSE_COND_H

#include "http/request.h"
#include "http/response_data.h"

typedef enum response_cond_result {
    RESPONSE_COND_WHOLE,     /* 200 */
    RESPONSE_COND_PART,      /* 206, one range */
    RESPONSE_COND_UNCHANGED, /* 304, however it may look */
    RESPONSE_COND_DECLINE    /* httpd's: several ranges, 416, odd syntax */
} response_cond_result;

/* The fields that this file judges. */
#define RESPONSE_COND_FIELDS                                                   \
    ((uint64_t)1 << REQUEST_RANGE | (uint64_t)1 << REQUEST_IF_RANGE            \
     | (uint64_t)1 << REQUEST_IF_NONE_MATCH                                    \
     | (uint64_t)1 << REQUEST_IF_MODIFIED_SINCE                                \
     | (uint64_t)1 << REQUEST_IF_UNMODIFIED_SINCE)

/*
 * @param now seconds since 1970 when the request came
 * @param first, last set for RESPONSE_COND_PART: offsets, both inclusive
 */
response_cond_result response_cond_judge(const response *a, const request *req,
                                         const char *head, int64_t now,
                                         int64_t *first, int64_t *last);

#endif
