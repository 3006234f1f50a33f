# SPDX-License-Identifier: Apache-2.0
# Draws the pictures of the report: Rscript plots.R FOLDER PART PARTS, where
# plots.py has written its CSV files; the parts run side by side. SVG with
# real text, by svglite.
suppressPackageStartupMessages({
    library(ggplot2)
    library(svglite)
})
arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1]
part <- as.integer(arguments[2])
parts <- as.integer(arguments[3])
read <- function(name) {
    read.csv(file.path(folder, paste0(name, ".csv")), encoding = "UTF-8",
             stringsAsFactors = FALSE)
}
scenarios <- read("scenarios")
servers <- read("servers")$server
palette <- setNames(hcl.colors(max(length(servers), 2), "Dark 3")
                    [seq_along(servers)], servers)
theme_set(theme_minimal(base_size = 13) +
    theme(legend.position = "none", panel.grid.minor = element_blank(),
          panel.spacing.x = unit(1.5, "lines"),
          plot.title.position = "plot",
          plot.title = element_text(size = 13)))

ordered_servers <- function(d, reverse = FALSE) {
    here <- servers[servers %in% d$server]
    d$server <- factor(d$server, levels = if (reverse) rev(here) else here)
    d
}
save <- function(plot, scenario, kind, width = 6.5, height = 4.5) {
    svglite(file.path(folder, paste0(scenario, "-", kind, ".svg")),
            width = width, height = height, fix_text_size = FALSE)
    print(plot)
    invisible(dev.off())
}
number <- function(x) format(x, scientific = FALSE, trim = TRUE,
                             drop0trailing = TRUE)
colours <- list(scale_colour_manual(values = palette),
                scale_fill_manual(values = palette))
rows_of <- function(d) length(unique(d$server))

draw_time <- function(d, title) {
    # fewer points than the density has: the file stays small
    d <- do.call(rbind, lapply(split(d, d$server), function(s)
        s[seq(1, nrow(s), length.out = min(nrow(s), 400)), ]))
    ggplot(d, aes(t, ms, colour = server)) + geom_point(size = 0.5) +
        facet_wrap(~server, ncol = 2) +
        scale_y_log10(labels = number) + colours +
        labs(title = title, x = "seconds since the run's start",
             y = "response time, ms")
}
draw_density <- function(d, title) {
    ggplot(d, aes(ms, fill = server, colour = server)) +
        geom_histogram(aes(y = after_stat(density)), bins = 40, alpha = 0.35,
                       linewidth = 0) +
        geom_density(fill = NA, linewidth = 0.6) +
        facet_wrap(~server, ncol = 2, scales = "free_y") +
        scale_x_log10(labels = number) + colours +
        labs(title = title, x = "response time, ms", y = "density")
}
draw_quantile <- function(d, title) {
    at <- c(0.5, 0.9, 0.99, 0.999, 0.9999)
    ggplot(d, aes(-log10(1 - p), ms, colour = server)) +
        geom_line(linewidth = 0.8) +
        scale_x_continuous(breaks = -log10(1 - at),
                           labels = paste0(at * 100, " %")) +
        scale_y_log10(labels = number) + colours +
        theme(legend.position = "bottom", legend.title = element_blank()) +
        guides(colour = guide_legend(ncol = 2)) +
        labs(title = title, x = "quantile", y = "response time, ms")
}
draw_cpu <- function(d, title) {
    mid <- aggregate(us ~ server, d, median)
    ggplot(mid, aes(us, server, fill = server)) + geom_col(width = 0.65) +
        geom_point(data = d, size = 1.2, colour = "black") +
        geom_text(aes(x = 0, label = paste0(" ", signif(us, 3))), hjust = 0,
                  size = 4) +
        scale_x_continuous(expand = expansion(mult = c(0, 0.05))) + colours +
        labs(title = title, x = "server CPU per request, µs (points: rounds)",
             y = NULL)
}
draw_balance <- function(d, title) {
    d <- aggregate(share ~ server + process, d, median)
    ggplot(d, aes(process, share, fill = server)) + geom_col(width = 0.7) +
        geom_hline(yintercept = 1, linetype = 2) +
        facet_wrap(~server, ncol = 2) +
        scale_x_continuous(breaks = function(l) seq(1, floor(l[2]))) +
        colours +
        labs(title = title, x = "process, busiest first",
             y = "CPU time over the mean")
}
draw_ratio <- function(d, title) {
    d$panel <- paste0(ifelse(d$figure == "rps", "requests/s",
                             "CPU per request"), "\nover ", d$base)
    ggplot(d, aes(ratio, server, colour = server)) +
        geom_vline(xintercept = 1, linetype = 2) +
        geom_segment(aes(x = 1, xend = ratio, yend = server)) +
        geom_point(size = 3) +
        facet_wrap(~panel, nrow = 2) +
        scale_x_log10(labels = number) + colours +
        labs(title = title, x = "ratio (log scale)", y = NULL)
}

kinds <- list(
    list("samples", "time", draw_time, FALSE,
         function(d) 1.2 + 1.5 * ceiling(rows_of(d) / 2)),
    list("samples", "density", draw_density, FALSE,
         function(d) 1.2 + 1.5 * ceiling(rows_of(d) / 2)),
    list("curves", "quantile", draw_quantile, FALSE, function(d) 5.5),
    list("cpu", "cpu", draw_cpu, TRUE, function(d) 1.2 + 0.42 * rows_of(d)),
    list("balance", "balance", draw_balance, FALSE,
         function(d) 1.2 + 1.5 * ceiling(rows_of(d) / 2)),
    list("ratios", "ratio", draw_ratio, TRUE,
         function(d) 1.6 + 0.7 * rows_of(d))
)
for (kind in kinds) {
    all <- read(kind[[1]])
    for (i in seq_len(nrow(scenarios))) {
        if (i %% parts != part) next
        d <- all[all$scenario == scenarios$scenario[i], ]
        if (nrow(d) == 0) next
        d <- ordered_servers(d, reverse = kind[[4]])
        title <- paste(strwrap(scenarios$title[i], 62), collapse = "\n")
        save(kind[[3]](d, title), scenarios$scenario[i], kind[[2]],
             height = kind[[5]](d))
    }
}
