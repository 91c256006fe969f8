"""Titles of women in Portuguese."""

from typing import Final

from polyvox.text.normalize.romance.short_forms.titles import WomensTitles

WOMENS_TITLES: Final = WomensTitles(
    titles="""
    Lic.: licenciada; Eng. eng.: engenheira; Arq. arq.: arquiteta; Prof. prof. Prof: professora; Enf.: enfermeira;
    Adv. adv.: advogada; Dir. dir.: diretora; Coord. coord.: coordenadora; Téc.: técnica; Psic.: psicóloga;
    Gov.: governadora; Sen.: senadora; Dep.: deputada; Min.: ministra; Ver.: vereadora; Des.: desembargadora;
    Del.: delegada; Sec.: secretária; Pref.: prefeita; Emb.: embaixadora; Dr. dr. Dr: doutora
    """,
    names="""
    Adélia Adriana Alessandra Alice Aline Amanda Ana Ângela Andreia Andréa Andréia Antónia Antônia Bárbara Beatriz
    Bianca Bruna Camila Carla Carmem Carmen Carolina Caroline Catarina Cecília Clara Clarice Cláudia Cristiane
    Cristina Daniela Daniele Débora Denise Diana Elaine Eliana Eliane Elisa Elisabete Elisabeth Emília Estela Eva
    Fabiana Fátima Fernanda Filipa Flávia Francisca Gabriela Giovana Gisele Graça Helena Heloísa Inês Ingrid Irene
    Isabel Isabela Isabella Ivone Janaína Jéssica Joana Juliana Júlia Karina Karla Laís Larissa Laura Letícia Lídia
    Lilian Luana Lúcia Luciana Luísa Luíza Luiza Madalena Manuela Mara Marcela Márcia Margarida Maria Mariana
    Marília Marisa Marlene Marta Matilde Michele Michelle Mirela Mônica Mónica Natália Neusa Olga Paola Patrícia
    Paula Priscila Rafaela Raquel Rebeca Regina Renata Rita Rosana Rosângela Roberta Rute Sabrina Sandra Sara Sílvia
    Simone Sofia Sônia Sónia Sueli Susana Suzana Tábata Tabata Tânia Tatiana Telma Teresa Tereza Thaís Valentina
    Valéria Vanessa Vânia Vera Verônica Verónica Virgínia Viviane Yasmin
    """,
    also_surnames="Aparecida Aurora Glória Leonor Lourdes Marina Pilar Rosa Vitória",
    before_men="o do ao no um pelo",
)
